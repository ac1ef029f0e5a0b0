// The entry decoder on any bytes, sealed ones too. The input is tried as it is, under the key it embeds, and once more
// with its checksum made right, since a fuzzer cannot guess one. What decodes must survive a round trip.
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "cache/entry/entry.hpp"
#include "cache/entry/layout.hpp"
#include "cache/entry/sealed.hpp"

namespace {

using namespace idem::cache;

constexpr std::size_t body_cap = 64 * 1024;

std::shared_ptr<const keyring> some_keys() {
    return std::make_shared<const keyring>(std::move(keyring::parse("k1 " + std::string(64, '4')).keys));
}

void check(std::string_view blob) {
    const auto head = decode_head(blob);
    const cache_key key = head ? head->key : cache_key{};
    static const entry_reading how{body_cap, some_keys()};
    const decoded d = decode_stored(blob, key, how);
    if ((d.value == nullptr) == (d.why == idem::reason::none)) std::abort();
    if (d.value == nullptr) return;
    if (d.value->body.size() > body_cap) std::abort();
    for (const auto c : {compression::none, compression::zstd}) {
        const std::string again = encode(*d.value, c);
        if (again.empty()) continue;
        const decoded second = decode(again, key, body_cap);
        if (second.value == nullptr || second.value->body != d.value->body ||
            second.value->headers != d.value->headers || second.value->tags != d.value->tags)
            std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string blob(reinterpret_cast<const char*>(data), size);
    check(blob);
    if (size < layout::fixed_size + layout::checksum_size) return 0;
    const std::size_t covered = size - layout::checksum_size;
    std::uint64_t sum = XXH3_64bits(blob.data(), covered);
    for (std::size_t i = 0; i < layout::checksum_size; ++i) blob[covered + i] = static_cast<char>(sum >> (8 * i));
    check(blob);
    return 0;
}
