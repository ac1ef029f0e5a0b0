#pragma once
// The table's sections for each other: one file a part of the document. Units that their ranges are written in.
#include <cstdint>

#include "gateway/config/schema.hpp"

namespace idem::gateway::config::table {

inline constexpr std::uint64_t kib = 1024, mib = 1024 * kib, tib = 1024 * 1024 * mib;
inline constexpr std::uint64_t second = 1000, minute = 60 * second, day = 24 * 60 * minute, year = 365 * day;

extern const section top;        // the document
extern const section upstreams;  // one element of `upstreams`
extern const section policies;   // one element of `policies`
extern const section routes;     // one element of `routes`

}  // namespace idem::gateway::config::table
