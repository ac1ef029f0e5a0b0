#pragma once
// The one script that Idem runs inside Redis. It names one key, so it works on any topology; it never calls
// error_reply, so no byte of a value can reach the protocol as an error line (CVE-2025-67733).
#include <string>
#include <string_view>

namespace idem::cache::redis {

/// KEYS[1] the entry; ARGV: value, lifetime in ms ("0": none), "1" if a dead value may be replaced, its first bytes.
/// Answers nil if the value was stored, else the value that is there. The first bytes hold key, fill id and times of an
/// entry (layout.hpp), so they name exactly the one that was found dead; of garbage they are what can be known.
inline constexpr std::string_view put_script =
    "local v = redis.call('GET', KEYS[1])\n"
    "if v and not (ARGV[3] == '1' and string.sub(v, 1, math.max(#ARGV[4], 1)) == ARGV[4]) then return v end\n"
    "if ARGV[2] == '0' then redis.call('SET', KEYS[1], ARGV[1])\n"
    "else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end\n"
    "return false\n";

/// What EVALSHA calls it: SHA-1 of the text, in hexadecimal. SHA-1 is Redis' choice and guards nothing here.
[[nodiscard]] std::string put_script_sha1();

}  // namespace idem::cache::redis
