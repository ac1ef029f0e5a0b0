#include "upstream/dialect/openai_common.hpp"

#include <algorithm>
#include <limits>

#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/native_common.hpp"
#include "upstream/dialect/read_call.hpp"

namespace idem::upstream::dialect::openai {
namespace {

// llama.cpp reads both as "choose a random seed".
constexpr double random_seed_signed = -1;
constexpr double random_seed_unsigned = 4294967295.0;

std::string_view error_type(unsigned status) noexcept {
    if (status == 401) return "authentication_error";
    if (status == 403) return "permission_error";
    if (status == 404) return "not_found_error";
    if (status == 429) return "rate_limit_error";
    return status < 500 ? "invalid_request_error" : "server_error";
}

void append_error(std::string& out, std::string_view type, reason why, std::string_view message) {
    out += R"({"error":{"message":)";
    append_json_string(out, message);
    out += R"(,"type":)";
    append_json_string(out, type);
    out += R"(,"param":null,"code":)";
    append_json_string(out, to_string(why));
    out += "}}";
}

bool truthy(std::string_view value) noexcept {
    return value == "true";
}

// OpenAI's search models, Perplexity's family and OpenRouter's suffix: the answer depends on the day.
bool searches_the_web(std::string_view model) noexcept {
    const std::string_view last = model.substr(model.rfind('/') + 1);
    return last.find("-search-preview") != last.npos || last.find("-search-api") != last.npos ||
           last.ends_with(":online") || last == "sonar" || last.starts_with("sonar-");
}

void read_tool(call& c, std::string_view tool) {
    const std::string_view type = find_member(tool, "type");
    if (type.empty() || type == "null") return;
    const std::string name = string_text(type).value_or("");
    if (name == "function" || name == "custom") return;
    if (name == "namespace") {
        read_tools(c, find_member(tool, "tools"));
    } else if (name.find("web_search") != name.npos) {
        bypass(c, reason::time_dependent_call);
    } else if (name == "file_search" || name == "document_library") {
        bypass(c, reason::stateful_call);
    } else {
        bypass(c, reason::side_effecting_call);
    }
}

// Usage in every chunk (vLLM) cannot be given to some callers and hidden from others.
void read_stream_options(call& c, std::string_view value) {
    json_members options(value);
    while (options.next()) {
        const std::string_view wanted = options.value();
        const bool boolean = wanted == "true" || wanted == "false" || wanted == "null";
        if (key_is(options.key(), "include_usage")) {
            c.usage_asked = truthy(wanted);
            if (!boolean) bypass(c, reason::form_unsupported);
        } else if (key_is(options.key(), "continuous_usage_stats") && (!boolean || truthy(wanted))) {
            bypass(c, reason::form_unsupported);
        }
    }
}

bool hands_over_state(std::string_view transfer_params) noexcept {
    json_members members(transfer_params);
    while (members.next()) {
        if (members.key().starts_with("do_remote") && truthy(members.value())) return true;
    }
    return false;
}

// A stream_options object with include_usage set to true; nullopt if it is so already or is no boolean.
std::optional<std::string> with_usage(std::string_view body, std::string_view options) {
    json_members members(options);
    bool any = false;
    while (members.next()) {
        any = true;
        if (!key_is(members.key(), "include_usage")) continue;
        if (members.value() != "false" && members.value() != "null") return std::nullopt;
        return spliced(body, members.value(), "true");
    }
    const std::string_view behind_brace = options.substr(1, 0);
    return spliced(body, behind_brace, any ? R"("include_usage":true,)" : R"("include_usage":true)");
}

constexpr std::string_view beta_header[] = {"openai-beta"};

}  // namespace

std::span<const std::string_view> endpoint::digest_headers() const noexcept {
    return beta_header;
}

bool endpoint::matches(std::string_view method, std::string_view path) const noexcept {
    if (method != "POST") return false;
    return path == path_ || (spelled_ == spelling::either && path == path_.substr(std::string_view("/v1").size()));
}

std::string endpoint::error_body(unsigned status, reason why, std::string_view message) const {
    return openai::error_body(status, why, message);
}

std::string endpoint::error_event(reason why, std::string_view message) const {
    std::string out = "data: ";
    append_error(out, "server_error", why, message);
    out += "\n\n";
    return out;
}

void read_model(call& c, std::string_view value) {
    if (auto model = string_text(value); model && !model->empty()) {
        if (searches_the_web(*model)) bypass(c, reason::time_dependent_call);
        c.model = std::move(*model);
    } else {
        bypass(c, reason::missing_model);
    }
}

bool read_tenant(call& c, std::string_view key, std::string_view value) {
    for (const std::string_view name : {"cache_salt", "extra_key"}) {
        if (!key_is(key, name)) continue;
        native::read_tenant(c, name, value);
        return true;
    }
    return false;
}

void read_shared_member(call& c, std::string_view key, std::string_view value) {
    if (value == "null") return;
    const auto is = [key](std::string_view name) { return key_is(key, name); };
    if (read_tenant(c, key, value)) return;
    read_cache_member(c, key, value);
    if (is("stream")) {
        read_stream(c, value, form::sse);
    } else if (is("stream_options")) {
        read_stream_options(c, value);
    } else if (is("n")) {
        const double n = number_value(value).value_or(1);
        if (n >= 1 && n <= std::numeric_limits<unsigned>::max()) multiply_choices(c, static_cast<unsigned>(n));
    } else if (is("max_tokens") || is("max_completion_tokens")) {
        c.limit_set = true;
    } else if (is("seed") || is("random_seed")) {  // Mistral calls it random
        const auto seed = number_value(value);
        c.seeded = seed && *seed != random_seed_signed && *seed != random_seed_unsigned;
    } else if (is("temperature")) {
        c.greedy = number_value(value) == 0.0;
    } else if (is("store")) {
        if (value != "false") bypass(c, reason::stateful_call);
    } else if (is("session_params")) {  // SGLang: continues a session that the server holds
        bypass(c, reason::stateful_call);
    } else if (is("return_hidden_states") || is("return_routed_experts")) {  // SGLang: megabytes for each token
        if (value != "false") bypass(c, reason::entry_too_large);
    } else if (is("kv_transfer_params")) {  // vLLM: hands the prefix to another server
        if (hands_over_state(value)) bypass(c, reason::stateful_call);
    } else if (is("tools")) {
        read_tools(c, value);
    } else if (is("web_search_options") || is("search_parameters")) {  // OpenAI, xAI
        bypass(c, reason::time_dependent_call);
    }
}

void read_tools(call& c, std::string_view value) {
    json_items tools(value);
    while (tools.next()) read_tool(c, tools.value());
}

unsigned count_inputs(std::string_view value) noexcept {
    if (kind_of(value) != json_kind::array) return 1;
    unsigned n = 0;
    json_items items(value);
    while (items.next()) {
        if (kind_of(items.value()) == json_kind::number) return 1;
        ++n;
    }
    return std::max(n, 1U);
}

void multiply_choices(call& c, unsigned n) noexcept {
    const std::uint64_t product = std::uint64_t{c.choices} * n;
    c.choices = static_cast<unsigned>(std::min<std::uint64_t>(product, std::numeric_limits<unsigned>::max()));
}

std::optional<std::string> ask_usage(std::string_view body) {
    bool streams = false;
    std::string_view options;
    json_members members(body);
    while (members.next()) {
        if (key_is(members.key(), "stream")) streams = truthy(members.value());
        if (key_is(members.key(), "stream_options")) options = members.value();
    }
    if (!streams) return std::nullopt;
    switch (kind_of(options)) {
        case json_kind::object:
            return with_usage(body, options);
        case json_kind::null:
            return spliced(body, options, R"({"include_usage":true})");
        case json_kind::invalid:
            break;
        default:
            return std::nullopt;
    }
    const std::size_t brace = body.rfind('}');
    if (brace == std::string_view::npos) return std::nullopt;
    return spliced(body, body.substr(brace, 0), R"(,"stream_options":{"include_usage":true})");
}

std::string error_body(unsigned status, reason why, std::string_view message) {
    std::string out;
    append_error(out, error_type(status), why, message);
    return out;
}

}  // namespace idem::upstream::dialect::openai
