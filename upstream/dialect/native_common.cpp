#include "upstream/dialect/native_common.hpp"

#include <algorithm>
#include <utility>

#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/openai_common.hpp"

namespace idem::upstream::dialect::native {

endpoint::endpoint(std::string_view name, std::initializer_list<std::string_view> paths) noexcept : name_(name) {
    std::copy_n(paths.begin(), std::min(paths.size(), paths_.size()), paths_.begin());
}

bool endpoint::matches(std::string_view method, std::string_view path) const noexcept {
    return method == "POST" && !path.empty() && std::ranges::find(paths_, path) != paths_.end();
}

std::string endpoint::error_body(unsigned status, reason why, std::string_view message) const {
    return openai::error_body(status, why, message);
}

std::string endpoint::error_event(reason why, std::string_view message) const {
    return "data: " + openai::error_body(500, why, message) + "\n\n";
}

void read_model(call& c, std::string_view value) {
    if (auto name = string_text(value)) c.model = std::move(*name);
}

void read_tenant(call& c, std::string_view name, std::string_view value) {
    if (nothing(value)) return;
    append_json_string(c.tenant, name);
    c.tenant += ':';
    append_json_string(c.tenant, string_text(value).value_or(std::string(value)));
}

bool truthy(std::string_view value) noexcept {
    return value == "true";
}

bool positive(std::string_view value) noexcept {
    return number_value(value).value_or(0) > 0;
}

bool nothing(std::string_view value) noexcept {
    switch (kind_of(value)) {
        case json_kind::string:
            return string_inner(value).empty();
        case json_kind::array:
            return !json_items(value).next();
        case json_kind::object:
            return !json_members(value).next();
        default:
            return value.empty() || value == "null";
    }
}

std::string_view member_of(std::string_view body, std::string_view name) {
    json_members members(body);
    while (members.next()) {
        if (key_is(members.key(), name)) return members.value();
    }
    return {};
}

}  // namespace idem::upstream::dialect::native
