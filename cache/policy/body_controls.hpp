#pragma once
// What a client may ask of the cache in the body: LiteLLM's object `cache` (docs.litellm.ai, "Cache Controls"). Its
// members mean what our own fields mean:
//     {"no-cache": true, "no-store": true, "ttl": 60, "s-maxage": 600, "namespace": "x"}
// Pure; any thread.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "cache/policy/controls.hpp"

namespace idem::cache {

struct body_controls {
    bool no_cache = false;
    bool no_store = false;
    std::optional<std::chrono::seconds> max_age;  // s-maxage, which some clients spell s-max-age
    std::optional<std::chrono::seconds> ttl;
    std::string name_space;  // empty where absent
};

struct parsed_body_controls {
    body_controls value;
    std::optional<control_error> error;  // the first one found
};

/// `json` is the member's value, valid JSON; empty: there is none. Members that are not known are ignored, and so is
/// null; a known one that is malformed is an error. `use-cache` opts in where LiteLLM's cache is off by default; ours
/// is not, and false is no-cache and no-store.
[[nodiscard]] parsed_body_controls parse_body_controls(std::string_view json);

/// Wishes add up; of two lifetimes the field's holds. The namespace is the caller's to choose: a field's before this.
void add(controls& to, const body_controls& from) noexcept;

}  // namespace idem::cache
