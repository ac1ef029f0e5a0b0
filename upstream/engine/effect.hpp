#pragma once
// What a call that belongs to no API Idem knows does to an engine: where answers must not depend on anything but their
// requests, only what changes nothing may be passed on as it came. Pure; any thread.
#include <cstdint>
#include <string_view>

#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

enum class effect : std::uint8_t {
    none,      // it reads
    computes,  // it makes the engine compute, beside whatever else is computed, and changes nothing
    changes,   // it may change what the engine is, or sample, or nobody knows what it does
};

/// `path` without query, as the client sent it. Escapes, doubled and trailing slashes are undone before it is compared,
/// since servers and the proxies before them do that, too.
[[nodiscard]] effect effect_of(const profile& engine, std::string_view method, std::string_view path);

}  // namespace idem::upstream::engine
