#pragma once
// Receipts on disk, one file each: DIRECTORY/issued/ab/cd/<key>-<fill>.json, where abcd are the first digits of the
// key. They stay for as long as receipts are kept, whatever becomes of the entry, and can be copied away and verified
// as they are. One thread.
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/request/key.hpp"
#include "upstream/base/digest.hpp"

namespace idem::gateway::receipts {

class receipt_store {
public:
    explicit receipt_store(std::string directory) : directory_(std::move(directory) + "/issued") {}
    /// Whole or not at all, and synced. An error text, empty if all is well.
    [[nodiscard]] std::string put(const cache::cache_key& key, const id128& fill, std::string_view text) const;
    /// Of that fill, or with zeros the youngest of the key; empty: there is none.
    [[nodiscard]] std::string get(const cache::cache_key& key, const id128& fill) const;
    /// Deletes what is older than `before` in one of the 256 first-level folders, another one at each call.
    void sweep(std::int64_t before_unix_seconds);

private:
    [[nodiscard]] std::string folder_of(const std::string& key_hex) const;
    const std::string directory_;
    unsigned next_ = 0;
};

}  // namespace idem::gateway::receipts
