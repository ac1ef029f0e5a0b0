#include "upstream/dialect/gemini_common.hpp"

#include <algorithm>
#include <array>

#include "upstream/base/digest.hpp"
#include "upstream/base/hex.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/read_call.hpp"

namespace idem::upstream::dialect::gemini {
namespace {

// In both spellings, which one request may mix.
constexpr std::string_view ordered[] = {
    "**/functionDeclarations/*/parameters",
    "**/function_declarations/*/parameters",
    "**/functionDeclarations/*/response",
    "**/function_declarations/*/response",
    "**/parametersJsonSchema",
    "**/parameters_json_schema",
    "**/responseSchema",
    "**/response_schema",
    "**/responseJsonSchema",
    "**/response_json_schema",
    "**/functionCall/args",
    "**/function_call/args",
    "**/functionResponse/response",
    "**/function_response/response",
};

// Of all calls together: each has some of them.
constexpr std::string_view prompts[] = {
    "/contents/*/parts/*/text",
    "/contents/parts/*/text",
    "/systemInstruction/parts/*/text",
    "/system_instruction/parts/*/text",
    "/generateContentRequest/contents/*/parts/*/text",
    "/generateContentRequest/contents/parts/*/text",
    "/generateContentRequest/systemInstruction/parts/*/text",
    "/generateContentRequest/system_instruction/parts/*/text",
    "/generate_content_request/contents/*/parts/*/text",
    "/generate_content_request/contents/parts/*/text",
    "/generate_content_request/systemInstruction/parts/*/text",
    "/generate_content_request/system_instruction/parts/*/text",
    "/content/parts/*/text",
    "/requests/*/content/parts/*/text",
};

// They search, or read what is elsewhere.
constexpr std::array<std::string_view, 8> looking = {"googleSearch", "googleSearchRetrieval", "enterpriseWebSearch",
                                                     "exaAiSearch",  "parallelAiSearch",      "urlContext",
                                                     "googleMaps",   "parallelWebSearch"};
constexpr std::array<std::string_view, 2> holding = {"fileSearch", "retrieval"};

constexpr std::string_view alternative_form[] = {"alt", "$alt", "%24alt"};

// google.rpc.Status as JSON; its code is a number, so the reason stands in an ErrorInfo (google.aip.dev/193).
std::string error_object(unsigned status, reason why, std::string_view message) {
    std::string out = R"({"error":{"code":)" + std::to_string(status) + R"(,"message":)";
    append_json_string(out, message);
    out.append(R"(,"status":")").append(status_word(status));
    out += R"(","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":)";
    append_json_string(out, to_string(why));
    return out + R"(,"domain":"idem"}]}})";
}

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Names are the same however their characters are escaped (RFC 3986 section 2.1).
std::string unescaped(std::string_view name) {
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const int high = name[i] == '%' && i + 2 < name.size() ? hex_value(name[i + 1]) : -1;
        const int low = high >= 0 ? hex_value(name[i + 2]) : -1;
        out += low < 0 ? name[i] : static_cast<char>(high * 16 + low);
        if (low >= 0) i += 2;
    }
    return out;
}

bool any_of(std::span<const std::string_view> list, std::string_view key) {
    return std::ranges::any_of(list, [&](std::string_view name) { return names(key, name); });
}

}  // namespace

std::string_view status_word(unsigned status) noexcept {
    switch (status) {
        case 401:
            return "UNAUTHENTICATED";
        case 403:
            return "PERMISSION_DENIED";
        case 404:
            return "NOT_FOUND";
        case 429:
            return "RESOURCE_EXHAUSTED";
        case 501:
            return "UNIMPLEMENTED";
        case 502:
        case 503:
            return "UNAVAILABLE";
        case 504:
            return "DEADLINE_EXCEEDED";
        default:
            return status < 500 ? "INVALID_ARGUMENT" : "INTERNAL";
    }
}

std::string_view method_of(std::string_view path) noexcept {
    const std::size_t colon = path.rfind(':');
    return colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
}

bool endpoint::matches(std::string_view method, std::string_view path) const noexcept {
    if (method != "POST" || std::ranges::find(methods_, method_of(path)) == methods_.end()) return false;
    const std::string_view resource = digest_path(path);
    return resource.rfind('/') + 1 < resource.size() && resource.find('/', 1) != std::string_view::npos;
}

bool endpoint::shapes_errors_of(std::string_view path) const noexcept {
    if (path.starts_with("/v1beta/openai/")) return false;  // Google's own copy of OpenAI's API
    return path.starts_with("/v1beta/") || path.starts_with("/v1alpha/") || matches("POST", path);
}

std::string_view endpoint::digest_path(std::string_view path) const noexcept {
    return path.substr(0, path.rfind(':'));
}

std::optional<std::string> endpoint::with_model(std::string_view path, std::string_view model) const {
    const std::string_view resource = digest_path(path);
    std::string out(resource.substr(0, resource.rfind('/') + 1));
    for (const char c : model) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("-._~").find(c) != std::string_view::npos;
        if (plain) {
            out += c;
        } else {
            const std::uint8_t byte = static_cast<std::uint8_t>(c);
            out.append("%").append(to_hex(std::span(&byte, 1)));
        }
    }
    return out.append(path.substr(resource.size()));
}

std::span<const std::string_view> endpoint::form_parameters() const noexcept {
    return alternative_form;
}

void endpoint::read_target(call& c, std::string_view path, std::string_view query) const {
    const std::string_view resource = digest_path(path);
    c.model = resource.substr(resource.rfind('/') + 1);
    const std::string_view written_as = alternative(query);
    const bool events = c.wanted == form::sse;
    if (!events && !written_as.empty() && written_as != "json") bypass(c, reason::form_unsupported);
}

std::string endpoint::error_body(unsigned status, reason why, std::string_view message) const {
    return error_object(status, why, message);
}

std::string endpoint::error_event(reason why, std::string_view message) const {
    return "data: " + error_object(502, why, message) + "\n\n";
}

std::string_view alternative(std::string_view query) {
    std::string_view found;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string name = unescaped(pair.substr(0, equals));
        if (name != "alt" && name != "$alt") continue;
        if (!found.empty() || equals >= pair.size() - 1) return "*";
        found = pair.substr(equals + 1);
    }
    return found;
}

bool names(std::string_view key, std::string_view name) {
    std::string plain;
    if (key.find('\\') != std::string_view::npos) {
        plain = string_text("\"" + std::string(key) + "\"").value_or("");
        key = plain;
    }
    std::size_t at = 0;
    for (const char c : key) {
        if (c == '_') continue;
        if (at == name.size() || lower(c) != lower(name[at])) return false;
        ++at;
    }
    return at == name.size();
}

void read_tools(call& c, std::string_view value) {
    json_items tools(value);
    while (tools.next()) {
        json_members kinds(tools.value());
        while (kinds.next()) {
            if (kinds.value() == "null" || names(kinds.key(), "functionDeclarations")) continue;
            if (any_of(looking, kinds.key())) {
                bypass(c, reason::time_dependent_call);
            } else if (any_of(holding, kinds.key())) {
                bypass(c, reason::stateful_call);
            } else {
                bypass(c, reason::side_effecting_call);
            }
        }
    }
}

void read_state(call& c, std::string_view key, std::string_view value) {
    if (value == "null") return;
    if (names(key, "cachedContent") || names(key, "continuationToken")) bypass(c, reason::stateful_call);
    if (names(key, "store") && value != "false") bypass(c, reason::stateful_call);
}

std::span<const std::string_view> prompt_text() noexcept {
    return prompts;
}

std::span<const std::string_view> order_kept() noexcept {
    return ordered;
}

}  // namespace idem::upstream::dialect::gemini
