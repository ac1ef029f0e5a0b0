#pragma once
// The scripts that Idem runs inside Redis. Each names one key, so they work on any topology; none calls error_reply, so
// no byte of a value can reach the protocol as an error line (CVE-2025-67733).
#include <string>
#include <string_view>

namespace idem::cache::redis {

/// A script and what EVALSHA calls it: SHA-1 of the text, in hexadecimal. SHA-1 is Redis' choice and guards nothing
/// here.
struct script {
    explicit script(std::string_view source);
    std::string_view text;
    std::string sha1;
};

/// KEYS[1] the entry; ARGV: value, lifetime in ms ("0": none), "1" if a dead value may be replaced, its first bytes.
/// Answers nil if the value was stored, else the value that is there. The first bytes hold key, fill id and times of an
/// entry (layout.hpp), so they name exactly the one that was found dead; of garbage they are what can be known.
inline constexpr std::string_view put_script =
    "local v = redis.call('GET', KEYS[1])\n"
    "if v and not (ARGV[3] == '1' and string.sub(v, 1, math.max(#ARGV[4], 1)) == ARGV[4]) then return v end\n"
    "if ARGV[2] == '0' then redis.call('SET', KEYS[1], ARGV[1])\n"
    "else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end\n"
    "return false\n";

/// KEYS[1] a record; ARGV: the first bytes that the value there must have, the new value. Answers nil if it was
/// written, else the value that is there, or nothing as an empty string.
inline constexpr std::string_view record_script =
    "local v = redis.call('GET', KEYS[1])\n"
    "if not v or string.sub(v, 1, #ARGV[1]) ~= ARGV[1] then return v or '' end\n"
    "redis.call('SET', KEYS[1], ARGV[2])\n"
    "return false\n";

/// KEYS[1] a lease; ARGV: format word, holder, 32 zeros, lifetime in ms, memory in ms. The value is format word,
/// holder, and who asked first while it was held. It lives for the lease and the memory: in the latter the lease is
/// over. Its holder is nobody where it was given back, and until then it is reserved for who asked. Answers nil: held,
/// and nobody else wants it; "wanted": held; "unclaimed" and "lapsed": held, and nobody had it before, or somebody let
/// it lapse; "taken"; "unknown": a value of another format.
inline constexpr std::string_view lease_script =
    "local v = redis.call('GET', KEYS[1])\n"
    "local f, h, z = ARGV[1], ARGV[2], ARGV[3]\n"
    "local n, said = z, 'unclaimed'\n"
    "if v then\n"
    "  said = false\n"
    "  if string.sub(v, 1, #f) ~= f or #v ~= #f + 64 then return 'unknown' end\n"
    "  local who = string.sub(v, #f + 1, #f + 32)\n"
    "  local over = redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[5])\n"
    "  n = string.sub(v, #f + 33)\n"
    "  if not over and who ~= h and (who ~= z or n ~= h) then\n"
    "    if n == z then redis.call('SET', KEYS[1], string.sub(v, 1, #f + 32) .. h, 'KEEPTTL') end\n"
    "    return 'taken'\n"
    "  end\n"
    "  if over or who ~= h then n = z end\n"
    "  if who ~= h and who ~= z then said = 'lapsed' end\n"
    "end\n"
    "redis.call('SET', KEYS[1], f .. h .. n, 'PX', ARGV[4] + ARGV[5])\n"
    "if n ~= z then said = 'wanted' end\n"
    "return said\n";

/// KEYS[1] a lease; ARGV as above, the lifetime being that of the reservation for who asked, and "1" where what was
/// begun under the lease has ended. Answers nil if it was given back, else "taken".
inline constexpr std::string_view release_script =
    "local v = redis.call('GET', KEYS[1])\n"
    "local f, h, z = ARGV[1], ARGV[2], ARGV[3]\n"
    "if not v or #v ~= #f + 64 or string.sub(v, 1, #f + 32) ~= f .. h then return 'taken' end\n"
    "if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[5]) then return 'taken' end\n"
    "local n = string.sub(v, #f + 33)\n"
    "if ARGV[6] ~= '1' then redis.call('SET', KEYS[1], f .. h .. z, 'PX', ARGV[5])\n"
    "elseif n == z then redis.call('SET', KEYS[1], f .. z .. z, 'PX', ARGV[5])\n"
    "else redis.call('SET', KEYS[1], f .. z .. n, 'PX', ARGV[4] + ARGV[5]) end\n"
    "return false\n";

/// KEYS[1] the records of one request; ARGV: format line, a record's kind, its first, last, fills and runs, how many
/// records are kept, lifetime in ms. A record of that kind is brought up to date, or one is added in front. Answers nil
/// where there was nothing, else what was there; "unknown": a value of another format, which is left alone.
inline constexpr std::string_view ledger_script =
    "local v = redis.call('GET', KEYS[1])\n"
    "local head, kind = ARGV[1], ARGV[2]\n"
    "local first, last, fills, runs = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]\n"
    "local most, kept, n = tonumber(ARGV[7]), {}, 1\n"
    "if v then\n"
    "  if string.sub(v, 1, #head) ~= head then return 'unknown' end\n"
    "  for line in string.gmatch(string.sub(v, #head + 1), '[^\\n]+') do\n"
    "    local f, l, c = string.match(string.sub(line, #kind + 1), '^(%d+) (%d+) (%d+) %d+$')\n"
    "    if string.sub(line, 1, #kind) == kind and f then\n"
    "      first = math.min(first, tonumber(f))\n"
    "      last = math.max(last, tonumber(l))\n"
    "      fills = fills + tonumber(c)\n"
    "    elseif n < most then\n"
    "      n = n + 1\n"
    "      kept[#kept + 1] = line\n"
    "    end\n"
    "  end\n"
    "end\n"
    "table.insert(kept, 1, kind .. string.format('%.0f %.0f %.0f ', first, last, fills) .. runs)\n"
    "redis.call('SET', KEYS[1], head .. table.concat(kept, '\\n'), 'PX', ARGV[8])\n"
    "return v\n";

}  // namespace idem::cache::redis
