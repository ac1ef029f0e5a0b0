#pragma once
// Reads a request for the simulated model: its members in one pass, and the meaning of those that are content. Views
// point into the body. Sans-I/O, any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "upstream/simulate/asked.hpp"

namespace idem::upstream::simulate {

class members_of {
public:
    /// `body` must be a valid JSON object; of anything else there are no members. Those of the object called `nested`
    /// count as if they stood beside the others.
    explicit members_of(std::string_view body, std::string_view nested = {});
    /// The raw value; empty if there is none.
    [[nodiscard]] std::string_view operator[](std::string_view key) const noexcept;
    /// Of everything that is content, in whatever order it stands.
    [[nodiscard]] std::uint64_t content() const;

private:
    std::vector<std::pair<std::string_view, std::string_view>> list_;
};

/// Whether and how a request may use the prompts that the engine kept, from its `cache_prompt` and `cache_salt`.
void read_cache_use(asked& a, const members_of& request);
/// A number token from 0 to a thousand million.
[[nodiscard]] std::optional<std::uint64_t> count(std::string_view token);
/// One string or a list of them, without empty ones.
[[nodiscard]] std::vector<std::string> stops_of(std::string_view value);
[[nodiscard]] std::string_view last_item(std::string_view array);

}  // namespace idem::upstream::simulate
