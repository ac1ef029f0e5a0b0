#pragma once
// Records of the ledger for tests, told apart by small words.
#include <algorithm>
#include <string_view>

#include "cache/ledger/record.hpp"

namespace idem::test {

inline cache::ledger_record fill_of(std::string_view request, std::string_view output, std::string_view epoch,
                                    cache::unix_ms at, std::string_view environment = "machine",
                                    upstream::determinism::level promise = upstream::determinism::level::replica) {
    cache::ledger_record r;
    r.request = sha256(request);
    r.upstream = "qwen";
    const digest id = sha256(epoch);
    std::copy_n(id.bytes.begin(), r.epoch.bytes.size(), r.epoch.bytes.begin());
    r.output = sha256(output);
    r.environment = sha256(environment);
    r.promise = {promise, upstream::determinism::isolation::serial, 9};
    if (promise == upstream::determinism::level::none) r.promise = {};
    r.first = r.last = at;
    return r;
}

inline id128 epoch_of(std::string_view epoch) {
    return fill_of("", "", epoch, 0).epoch;
}

}  // namespace idem::test
