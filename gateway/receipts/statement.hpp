#pragma once
// What a receipt states: which answer was given to which request, by what, in which state, under which rules. Digests
// and facts, no prompt and no answer. README.md in this folder has the members one by one. Pure; any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/entry/entry.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/determinism/environment.hpp"

namespace idem::gateway::receipts {

inline constexpr std::string_view receipt_type = "idem-receipt/1";

/// Beside what the entry knows itself.
struct circumstances {
    std::string policy;
    digest treatment;
    digest configuration;  // SHA-256 of what `idem config effective` prints
    /// Of the replica; null where they were not read, or are not those of the entry's environment.
    std::shared_ptr<const upstream::determinism::environment> facts;
};

/// The canonical text of the statement about `e`, as `signer` would sign it.
[[nodiscard]] std::string statement_of(const cache::entry& e, const circumstances& c, std::string_view signer);

/// SHA-256 of the canonical JSON array of the prompt's token ids, where a JSON answer carries them as
/// `prompt_token_ids` (vLLM with return_token_ids); nullopt elsewhere.
[[nodiscard]] std::optional<digest> prompt_token_digest(std::string_view body);

/// What is checked beyond the signature: that the facts are those that the environment id commits to. An error for
/// people, empty if good.
[[nodiscard]] std::string check_statement(std::string_view statement);

enum class entry_check : std::uint8_t { same, same_output, differs, unreadable };
/// Whether `body` is the answer that the statement is about: byte for byte, or at least by its normalised output (in
/// another form, or without a usage event that was not asked for).
[[nodiscard]] entry_check check_entry(std::string_view statement, std::string_view body);

}  // namespace idem::gateway::receipts
