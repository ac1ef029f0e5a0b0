#pragma once
// What each field of an API does to the request digest, as tables: the API's own list of fields, beside what Idem must
// make of each. fields_test.cpp generates its tests from them; a dialect is added by its table alone.
#include <span>
#include <string_view>

#include "upstream/base/reason.hpp"

namespace idem::gateway::pipeline::fields {

/// `at` is a JSON pointer into the table's body, values are JSON texts. Two values that differ from each other and from
/// what the body has there.
struct counted {
    std::string_view at, value, other;
};

/// A member that may be added, with any value, without changing anything.
struct ignored {
    std::string_view at, value, other;
};

/// A value with which the call is not cached, and the reason that it names.
struct bypassing {
    std::string_view at, value;
    reason why;
};

struct table {
    std::string_view dialect, path;
    std::string_view body;  // a call that can be cached and has every kind of object that the API knows
    std::span<const counted> counts;
    std::span<const ignored> ignores;
    std::span<const bypassing> bypasses;
    std::span<const std::string_view>
        ordered;  // objects in the body in which, and below which, the order of keys counts
    std::span<const std::string_view> headers;       // request headers that count
    reason never = reason::none;                     // why no call of this dialect is ever cached
    std::span<const std::string_view> tenants = {};  // members that belong to the scope instead of the digest
    bool needs_model = true;                         // a call without one is not cached
};

[[nodiscard]] std::span<const table> openai();
[[nodiscard]] std::span<const table> openai_responses();
[[nodiscard]] std::span<const table> openai_objects();
[[nodiscard]] std::span<const table> gemini();
[[nodiscard]] std::span<const table> anthropic();
[[nodiscard]] std::span<const table> ollama();
[[nodiscard]] std::span<const table> engines();

}  // namespace idem::gateway::pipeline::fields
