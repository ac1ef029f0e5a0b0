#include "upstream/dialect/anthropic_common.hpp"

#include <algorithm>
#include <array>

#include "upstream/dialect/anthropic_nonce.hpp"
#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/read_call.hpp"

namespace idem::upstream::dialect::anthropic {
namespace {

// None of these reaches the model.
constexpr std::string_view ignored[] = {
    // presentation, labels, which queue serves the call and who pays
    "/stream", "/metadata", "/service_tier", "/billing_policy", "/fallback_credit_token",
    // the provider's own prefix cache
    "**/cache_control",
    // LiteLLM's cache control
    "/cache"};

// Here the order of keys reaches the prompt or the output grammar, and no key is ours to ignore.
constexpr std::string_view order_kept[] = {"/tools/*/input_schema",
                                           "/tools/*/input_examples",
                                           "/messages/*/content/*/input",
                                           "/messages/*/content/*/tool/definition/input_schema",
                                           "/messages/*/content/*/tool/definition/input_examples",
                                           "/output_config/format/schema",
                                           "/output_format/schema",
                                           "/chat_template_kwargs"};

constexpr std::string_view prompt_text[] = {"/system", "/system/*/text", "/messages/*/content",
                                            "/messages/*/content/*/text",
                                            // of a tool
                                            "/messages/*/content/*/content", "/messages/*/content/*/content/*/text"};

constexpr std::string_view version_headers[] = {"anthropic-beta", "anthropic-version"};

// Tools whose calls come back to the client, without the date that ends their names.
constexpr std::array<std::string_view, 6> client_tools = {"bash",   "browser_toolset", "computer", "computer_toolset",
                                                          "memory", "text_editor"};

constexpr std::string_view addition = "tool_addition";

// "web_search_20250305" is "web_search".
std::string_view without_date(std::string_view type) noexcept {
    const std::size_t digits = type.size() - (type.find_last_not_of("0123456789") + 1);
    if (digits != 8 || type.size() <= 9 || type[type.size() - 9] != '_') return type;
    return type.substr(0, type.size() - 9);
}

void read_tool(call& c, std::string_view tool) {
    std::string_view token;
    json_members members(tool);
    while (members.next()) {
        if (key_is(members.key(), "type")) token = members.value();
    }
    if (token.empty() || token == "null") return;
    const std::string type = string_text(token).value_or("");
    const std::string_view name = without_date(type);
    if (name == "custom" || std::ranges::find(client_tools, name) != client_tools.end()) return;
    const bool reads_the_web = name == "web_search" || name == "web_fetch";
    bypass(c, reads_the_web ? reason::time_dependent_call : reason::side_effecting_call);
}

// Turns may bring tools of their own.
void read_added_tools(call& c, std::string_view messages) {
    json_items turns(messages);
    while (turns.next()) {
        json_items blocks(find_member(turns.value(), "content"));
        while (blocks.next()) {
            if (string_inner(find_member(blocks.value(), "type")) != addition) continue;
            const std::string_view tool = find_member(blocks.value(), "tool");
            const std::string_view kind = string_inner(find_member(tool, "type"));
            if (kind == "tool_definition") {
                read_tool(c, find_member(tool, "definition"));
            } else if (kind != "tool_reference") {
                bypass(c, reason::side_effecting_call);
            }
        }
    }
}

bool is_empty_array(std::string_view value) noexcept {
    return kind_of(value) == json_kind::array && !json_items(value).next();
}

std::string_view error_type(unsigned status) noexcept {
    switch (status) {
        case 401:
            return "authentication_error";
        case 403:
            return "permission_error";
        case 404:
            return "not_found_error";
        case 413:
            return "request_too_large";
        case 429:
            return "rate_limit_error";
        case 503:
        case 529:
            return "overloaded_error";
        case 504:
            return "timeout_error";
        default:
            return status < 500 ? "invalid_request_error" : "api_error";
    }
}

// `code` is ours: SDKs read type and message, and hand the rest to the application as it is.
std::string error_object(std::string_view type, reason why, std::string_view message) {
    std::string out = R"({"type":"error","error":{"type":)";
    append_json_string(out, type);
    out += R"(,"message":)";
    append_json_string(out, message);
    out += R"(,"code":)";
    append_json_string(out, to_string(why));
    return out + "}}";
}

}  // namespace

bool endpoint::matches(std::string_view method, std::string_view path) const noexcept {
    return method == "POST" && (path == path_ || path == path_.substr(std::string_view("/v1").size()));
}

bool endpoint::shapes_errors_of(std::string_view path) const noexcept {
    return matches("POST", path) || path.starts_with("/v1/messages/");  // batches, too
}

body_rules endpoint::rules() const noexcept {
    return {ignored, order_kept, prompt_text};
}

std::optional<std::string> endpoint::without_nonces(std::string_view body) const {
    return anthropic::without_nonces(body);
}

std::span<const std::string_view> endpoint::digest_headers() const noexcept {
    return version_headers;
}

std::string endpoint::error_body(unsigned status, reason why, std::string_view message) const {
    return error_object(error_type(status), why, message);
}

std::string endpoint::error_event(reason why, std::string_view message) const {
    return "event: error\ndata: " + error_object("api_error", why, message) + "\n\n";
}

call read_request(std::string_view body, bool runs_tools) {
    call c;
    std::string_view model;
    json_members members(body);
    while (members.next()) {
        const std::string_view value = members.value();
        const auto is = [key = members.key()](std::string_view name) { return key_is(key, name); };
        if (value == "null") continue;
        read_cache_member(c, members.key(), value);
        if (is("model")) {
            model = value;
        } else if (is("stream")) {
            read_stream(c, value, form::sse);
        } else if (is("max_tokens")) {
            c.limit_set = true;
        } else if (is("temperature")) {
            c.greedy = number_value(value) == 0.0;
        } else if (is("thread") || is("container")) {
            bypass(c, reason::stateful_call);
        } else if (is("mcp_servers")) {
            if (!is_empty_array(value)) bypass(c, reason::side_effecting_call);
        } else if (is("tools") && runs_tools) {
            json_items tools(value);
            while (tools.next()) read_tool(c, tools.value());
        } else if (is("messages") && runs_tools && value.find(addition) != std::string_view::npos) {
            read_added_tools(c, value);
        }
    }
    if (auto name = string_text(model); name && !name->empty()) {
        c.model = std::move(*name);
    } else {
        bypass(c, reason::missing_model);
    }
    return c;
}

}  // namespace idem::upstream::dialect::anthropic
