#pragma once
// The chain: a text file of records, one a line, each the canonical form (RFC 8785) of
// `{"body":{…},"n":N,"prev":"<hex>"}`, where `n` counts from 1 and `prev` is the SHA-256 of the line before, without
// its line end; of the first line it is 64 zeros. A *head* is a signed statement of how long the chain is and what its
// last line's hash is; kept elsewhere, it proves that nothing before it was changed, dropped or put in. Pure; one
// thread.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/receipts/keys.hpp"
#include "upstream/base/digest.hpp"

namespace idem::gateway::receipts {

inline constexpr std::string_view head_type = "idem-head/1";
inline constexpr std::size_t longest_line = 64 * 1024;

/// Where a chain stands.
struct chain_end {
    std::string chain;  // id, 32 hexadecimal digits
    std::uint64_t n = 0;
    digest last{};  // zeros before the first line
    bool operator==(const chain_end&) const = default;
};

/// The next line, without a line end; `end` moves on. `body` is a JSON object.
[[nodiscard]] std::string next_line(chain_end& end, std::string_view body);
/// A signed head of a chain.
[[nodiscard]] std::string head_of(const chain_end& end, std::int64_t unix_ms, const signing_key& key);

/// Goes through the lines of a chain.
class chain_reader {
public:
    /// One line without its end. False: it does not continue the chain; error() says why.
    [[nodiscard]] bool take(std::string_view line);
    [[nodiscard]] const chain_end& end() const noexcept { return end_; }
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    /// `type` of the last line's body.
    [[nodiscard]] const std::string& type() const noexcept { return type_; }
    /// Records by type.
    [[nodiscard]] const std::map<std::string, std::uint64_t, std::less<>>& counts() const noexcept { return counts_; }
    /// Records that gap lines say were lost.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    bool fail(std::string why);
    chain_end end_;
    std::string error_, type_;
    std::map<std::string, std::uint64_t, std::less<>> counts_;
    std::uint64_t lost_ = 0;
};

struct head {
    chain_end at;
    std::int64_t time = 0;
    std::string signer;
};
/// Nothing, with a sentence in `error`, for what is no head or not well signed.
[[nodiscard]] std::optional<head> read_head(std::string_view text, const key_ring& keys, std::string& error);

struct audit {
    std::vector<std::string> faults;  // for people; empty: good
    std::vector<std::string> notes;   // what is not wrong and should be known
    std::uint64_t lines = 0, covered = 0;
    std::string chain;
};

/// Compares a chain with signed heads of it.
class auditor {
public:
    explicit auditor(const key_ring& keys) : keys_(keys) {}
    /// Before the lines: every head, one a line, as a sink keeps them. Heads of other chains are passed over.
    void heads(std::string_view text);
    void line(std::string_view text);
    /// `torn`: bytes behind the last line end.
    [[nodiscard]] audit finish(std::size_t torn);

private:
    const key_ring& keys_;
    std::vector<head> heads_;
    std::vector<std::string> bad_heads_;
    std::multimap<std::uint64_t, std::size_t> by_length_;
    chain_reader reader_;
    std::vector<std::string> faults_;
    bool broken_ = false;
};

}  // namespace idem::gateway::receipts
