#pragma once
// A part of all entries of a tier, for an administrator who looks at all of them. Plain data.
#include <cstddef>
#include <string>
#include <vector>

#include "cache/entry/entry.hpp"

namespace idem::cache {

struct entry_page {
    std::vector<entry_ptr> entries;
    std::string next{};         // where the next page begins; empty: this was the last
    reason why = reason::none;  // set: it could not be read
};
/// Bytes of a page, about; its last entry may go beyond.
inline constexpr std::size_t largest_page = std::size_t{8} << 20;

}  // namespace idem::cache
