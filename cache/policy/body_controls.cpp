#include "cache/policy/body_controls.hpp"

#include <algorithm>
#include <cmath>

#include "upstream/dialect/json_text.hpp"

namespace idem::cache {
namespace {

using std::chrono::seconds;
using upstream::dialect::key_is;

constexpr double longest = 2147483648.0;  // as in fields: what is beyond counts as this

class reader {
public:
    parsed_body_controls run(std::string_view json) {
        if (json.empty()) return {};
        if (upstream::dialect::kind_of(json) != upstream::dialect::json_kind::object) {
            fail("cache", R"(an object such as {"no-cache": true})");
            return std::move(result_);
        }
        upstream::dialect::json_members members(json);
        while (!result_.error && members.next()) {
            if (members.value() != "null") member(members.key(), members.value());
        }
        return std::move(result_);
    }

private:
    void fail(std::string_view field, std::string_view expected) { result_.error = {field, expected}; }

    void member(std::string_view key, std::string_view value) {
        body_controls& c = result_.value;
        if (key_is(key, "no-cache")) {
            c.no_cache = flag("cache.no-cache", value) || c.no_cache;
        } else if (key_is(key, "no-store")) {
            c.no_store = flag("cache.no-store", value) || c.no_store;
        } else if (key_is(key, "use-cache")) {
            if (!flag("cache.use-cache", value)) c.no_cache = c.no_store = true;
        } else if (key_is(key, "ttl")) {
            c.ttl = duration("cache.ttl", value, 1, "a whole number of seconds above 0");
        } else if (key_is(key, "s-maxage")) {
            age("cache.s-maxage", value);
        } else if (key_is(key, "s-max-age")) {
            age("cache.s-max-age", value);
        } else if (key_is(key, "namespace")) {
            name_space(value);
        }
    }

    bool flag(std::string_view field, std::string_view value) {
        if (value != "true" && value != "false") fail(field, "true or false");
        return value == "true";
    }

    std::optional<seconds> duration(std::string_view field, std::string_view value, double least,
                                    std::string_view expected) {
        const auto number = upstream::dialect::number_value(value);
        if (!number || *number < least || std::floor(*number) != *number) {
            fail(field, expected);
            return std::nullopt;
        }
        return seconds(static_cast<std::int64_t>(std::min(*number, longest)));
    }

    void age(std::string_view field, std::string_view value) {
        const auto wanted = duration(field, value, 0, "a whole number of seconds");
        std::optional<seconds>& to = result_.value.max_age;
        if (wanted && (!to || *wanted < *to)) to = wanted;
    }

    void name_space(std::string_view value) {
        auto text = upstream::dialect::string_text(value);
        const auto visible = [](char c) { return c > 0x20 && c < 0x7f; };
        if (!text || text->empty() || text->size() > longest_namespace || !std::ranges::all_of(*text, visible)) {
            return fail("cache.namespace", "1 to 128 visible ASCII characters");
        }
        result_.value.name_space = std::move(*text);
    }

    parsed_body_controls result_;
};

}  // namespace

parsed_body_controls parse_body_controls(std::string_view json) {
    return reader().run(json);
}

void add(controls& to, const body_controls& from) noexcept {
    to.no_cache |= from.no_cache;
    to.no_store |= from.no_store;
    if (from.max_age && (!to.max_age || *from.max_age < *to.max_age)) to.max_age = from.max_age;
    if (!to.ttl) to.ttl = from.ttl;
}

}  // namespace idem::cache
