#pragma once
// The names and records that Idem keeps in Redis: what gateways of different versions share. Pure; any thread.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/ledger/record.hpp"
#include "cache/request/key.hpp"
#include "cache/store/store.hpp"

namespace idem::cache::redis {

/// "<prefix>{<64 hex digits>}:e". The braces make the digest the part that a cluster hashes (Redis Cluster
/// specification, "Hash tags"), so that all names of one key stay in one slot.
[[nodiscard]] std::string entry_name(std::string_view prefix, const cache_key& key);

/// What SCAN finds those names by, with what is special in a pattern escaped; and the key that a name is of, nothing
/// for a name of another kind.
[[nodiscard]] std::string entry_pattern(std::string_view prefix);
[[nodiscard]] std::optional<cache_key> key_of_entry_name(std::string_view prefix, std::string_view name);

/// "<prefix>bind:{<64 hex digits>}".
[[nodiscard]] std::string binding_name(std::string_view prefix, const digest& name);
/// "idem-bind 1 <name> <value>" in hexadecimal; the name is in it so that a record that came under another is noticed.
[[nodiscard]] std::string encode_binding(const binding& b);
/// The value; nothing for another format, or another name's.
[[nodiscard]] std::optional<digest> decode_binding(const digest& name, std::string_view text);

/// "<prefix>record:{<name>}" and "<prefix>lease:{<name>}".
[[nodiscard]] std::string record_name(std::string_view prefix, std::string_view name);
[[nodiscard]] std::string lease_name(std::string_view prefix, std::string_view name);
/// "<prefix>ledger:{<64 hex digits>}": all records of one request.
[[nodiscard]] std::string ledger_name(std::string_view prefix, const digest& request);
/// What SCAN finds those names by, with what is special in a pattern escaped.
[[nodiscard]] std::string ledger_pattern(std::string_view prefix);
/// The request that a name is of; nothing for a name of another kind.
[[nodiscard]] std::optional<digest> request_of_ledger_name(std::string_view prefix, std::string_view name);
/// What the value begins with; one line a record follows, the latest first (cache/ledger/record.hpp).
inline constexpr std::string_view ledger_format = "idem-ledger 1\n";
/// Nothing for a value of another format. Lines that are not understood are left out.
[[nodiscard]] std::optional<std::vector<ledger_record>> decode_ledger(const digest& request, std::string_view value);

/// What a record of this version begins with: "idem-record 1 <16 hexadecimal digits> ". Its value follows.
[[nodiscard]] std::string record_head(std::uint64_t version);
struct versioned {
    std::uint64_t version = 0;
    std::string_view value;
};
/// Nothing for another format.
[[nodiscard]] std::optional<versioned> decode_record(std::string_view text);
/// What a lease begins with; holder and who is next follow, 32 hexadecimal digits each.
inline constexpr std::string_view lease_format = "idem-lease 2 ";

}  // namespace idem::cache::redis
