#include "upstream/simulate/asked.hpp"

#include <algorithm>
#include <array>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;

// Members that must not change the text: presentation, labels, limits, and what is mixed in by rules of its own.
constexpr std::array<std::string_view, 22> not_content = {
    "stream",       "stream_options",       "user",     "safety_identifier", "metadata",
    "store",        "prompt_cache_key",     "cache",    "cache_salt",        "n",
    "best_of",      "max_tokens",           "logprobs", "top_logprobs",      "stop",
    "seed",         "temperature",          "echo",     "encoding_format",   "dimensions",
    "service_tier", "max_completion_tokens"};

std::optional<std::uint64_t> count(std::string_view token) {
    const auto value = number_value(token);
    if (!value || *value < 0 || *value > 1e9) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
}

// The order of content must be told apart from that of other members, hence the name in the sum.
std::uint64_t content(std::string_view body) {
    std::uint64_t sum = 0;
    json_members members(body);
    while (members.next()) {
        const std::string_view key = members.key();
        if (members.value() == "null" || std::find(not_content.begin(), not_content.end(), key) != not_content.end()) {
            continue;
        }
        std::uint64_t name = 0;
        for (const char c : key) name = mix(name ^ static_cast<unsigned char>(c));
        sum += mix(name ^ meaning(members.value()));
    }
    return mix(sum);
}

std::vector<std::string_view> inputs_of(std::string_view value) {
    if (kind_of(value) != json_kind::array) return {value};
    std::vector<std::string_view> out;
    json_items items(value);
    while (items.next()) {
        if (kind_of(items.value()) == json_kind::number) return {value};
        out.push_back(items.value());
    }
    return out;
}

std::vector<std::string> stops_of(std::string_view value) {
    std::vector<std::string> out;
    if (auto one = string_text(value)) out.push_back(std::move(*one));
    json_items items(value);
    while (items.next()) {
        if (auto text = string_text(items.value())) out.push_back(std::move(*text));
    }
    std::erase(out, "");
    return out;
}

std::string_view last_item(std::string_view array) {
    std::string_view last;
    json_items items(array);
    while (items.next()) last = items.value();
    return last;
}

// The named tool, else the first; none once a tool has answered or where the caller forbids it.
std::string_view tool_to_call(std::string_view body) {
    const std::string_view choice = find_member(body, "tool_choice");
    if (choice == "\"none\"") return {};
    if (find_member(last_item(find_member(body, "messages")), "role") == "\"tool\"") return {};
    const std::string_view wanted = find_member(find_member(choice, "function"), "name");
    std::string_view first;
    json_items tools(find_member(body, "tools"));
    while (tools.next()) {
        const std::string_view function = find_member(tools.value(), "function");
        if (function.empty()) continue;
        if (first.empty()) first = function;
        if (!wanted.empty() && find_member(function, "name") == wanted) return function;
    }
    return first;
}

std::string_view schema_to_fill(std::string_view response_format) {
    const std::string_view type = find_member(response_format, "type");
    if (type == "\"json_object\"") return R"({"properties":{"answer":{"type":"string"}}})";
    if (type != "\"json_schema\"") return {};
    return find_member(find_member(response_format, "json_schema"), "schema");
}

std::optional<unsigned> alternatives(std::string_view body) {
    const std::string_view logprobs = find_member(body, "logprobs");
    if (const auto wanted = count(logprobs)) return static_cast<unsigned>(std::min<std::uint64_t>(*wanted, 20));
    if (logprobs != "true") return std::nullopt;
    return static_cast<unsigned>(std::min<std::uint64_t>(count(find_member(body, "top_logprobs")).value_or(0), 20));
}

}  // namespace

asked read_request(std::string_view body, std::string_view input_member) {
    asked a;
    const auto member = [body](std::string_view name) { return find_member(body, name); };
    a.model = string_text(member("model")).value_or("");
    a.state = content(body);
    a.vector_state = meaning(member("model"));
    a.sampled = number_value(member("temperature")) != 0.0;
    if (const auto seed = member("seed"); kind_of(seed) == json_kind::number) {
        a.seeded = true;
        if (a.sampled) a.state = mix(a.state ^ meaning(seed) ^ meaning(member("temperature")));
    }
    a.prompt_tokens = member(input_member).size() / 4 + 1;
    a.stream = member("stream") == "true";
    a.include_usage = find_member(member("stream_options"), "include_usage") == "true";
    a.n = static_cast<unsigned>(std::clamp<std::uint64_t>(count(member("n")).value_or(1), 1, 128));
    a.limit = count(member("max_completion_tokens"));
    if (!a.limit) a.limit = count(member("max_tokens"));
    a.logprobs = alternatives(body);
    a.stop = stops_of(member("stop"));
    a.inputs = inputs_of(member(input_member));
    a.tool = tool_to_call(body);
    a.schema = schema_to_fill(member("response_format"));
    a.echo = member("echo") == "true";
    a.base64 = member("encoding_format") == "\"base64\"";
    a.dimensions = std::min<std::uint64_t>(count(member("dimensions")).value_or(0), 4096);
    a.bad = a.model.empty() || a.inputs.empty() || a.inputs.front().empty();
    return a;
}

}  // namespace idem::upstream::simulate
