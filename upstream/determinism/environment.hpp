#pragma once
// What is known of the machine, program and model behind a replica that enters the numbers it computes. Each fact
// carries where it comes from; what nobody can tell is listed as unknown, because a list of facts that hides its gaps
// reads like a proof. Equal environments are necessary for equal answers, never sufficient. Plain values; any thread.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "upstream/base/digest.hpp"

namespace idem::upstream::determinism {

/// measured: seen by Idem itself. reported: the server says so. declared: the operator says so. unknown: nobody does.
enum class provenance : std::uint8_t { measured, reported, declared, unknown };
[[nodiscard]] std::string_view to_string(provenance p) noexcept;

struct fact {
    std::string name;
    std::string value;  // empty where unknown
    provenance from = provenance::unknown;
    bool operator==(const fact&) const = default;
};

/// One fact a name, sorted by name.
class environment {
public:
    /// The better known of two facts of one name stays: what a server reports is not replaced by what is declared.
    void add(fact f);
    [[nodiscard]] const fact* find(std::string_view name) const noexcept;
    [[nodiscard]] std::span<const fact> facts() const noexcept { return facts_; }
    /// Commits to names, values, provenance and the list of unknowns: SHA-256 over parts (a tag byte, the length as
    /// eight big-endian bytes, the text): v `idem-environment-1`, then of each fact n its name, p its provenance, = its
    /// value.
    [[nodiscard]] digest id() const;
    bool operator==(const environment&) const = default;

private:
    std::vector<fact> facts_;
};

/// The environment of a replica about which nothing was asked.
[[nodiscard]] digest unwatched_environment() noexcept;

/// Facts that a configuration fixes, as (name, value), and those of them that it vouches for itself.
struct requirements {
    std::vector<std::pair<std::string, std::string>> lock;
    std::vector<std::string> declared;
};

/// `read` completed by what is declared, and by an unknown for each of `expected` and `lock` that nobody tells.
[[nodiscard]] environment completed(environment read, const requirements& by,
                                    std::span<const std::string_view> expected);

/// A locked fact that is another, or that is not known.
struct violation {
    std::string name, wanted, found;
};
[[nodiscard]] std::vector<violation> violations(const environment& of, const requirements& by);

/// What differs between two environments, in words such as `engine_version "0.33.0" was "0.32.0"`; empty where equal.
[[nodiscard]] std::string difference(const environment& now, const environment& before);

}  // namespace idem::upstream::determinism
