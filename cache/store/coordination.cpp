#include "cache/store/coordination.hpp"

#include <cstring>

namespace idem::cache {

std::uint64_t next_version(std::uint64_t expected) {
    if (expected != 0) return expected + 1;
    const id128 random = random_id();
    std::uint64_t first = 0;
    std::memcpy(&first, random.bytes.data(), sizeof first);
    return (first >> 2) + 1;  // SQLite's integers have a sign, and there has to be room to grow
}

}  // namespace idem::cache
