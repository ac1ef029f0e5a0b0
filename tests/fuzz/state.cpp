// The state record on any bytes: what is read is written and read back the same, and bans made of it can be asked.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cache/state/bans.hpp"

using namespace idem::cache;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto r = decode_state({reinterpret_cast<const char*>(data), size});
    if (!r) return 0;
    if (decode_state(encode(*r)) != r) std::abort();
    if (compare(*r, r->mark()) != continuity::follows) std::abort();
    const ban_table bans(*r);
    ban_subject s;
    s.mark = bans.mark();
    if (bans.hits(s)) std::abort();
    return 0;
}
