#include "upstream/simulate/asked.hpp"

#include <algorithm>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/members.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;

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

// The named tool, else the first; none once a tool has answered or where the caller forbids it.
std::string_view tool_to_call(const members_of& request) {
    const std::string_view choice = request["tool_choice"];
    if (choice == "\"none\"") return {};
    if (find_member(last_item(request["messages"]), "role") == "\"tool\"") return {};
    const std::string_view wanted = find_member(find_member(choice, "function"), "name");
    std::string_view first;
    json_items tools(request["tools"]);
    while (tools.next()) {
        const std::string_view function = find_member(tools.value(), "function");
        if (function.empty()) continue;
        if (first.empty()) first = function;
        if (!wanted.empty() && find_member(function, "name") == wanted) return function;
    }
    return first;
}

// The same of an Anthropic request, whose tools that run elsewhere have no schema.
std::string_view client_tool_to_call(const members_of& request) {
    const std::string_view choice = request["tool_choice"];
    if (find_member(choice, "type") == "\"none\"") return {};
    json_items blocks(find_member(last_item(request["messages"]), "content"));
    while (blocks.next()) {
        if (find_member(blocks.value(), "type") == "\"tool_result\"") return {};
    }
    const std::string_view wanted = find_member(choice, "name");
    std::string_view first;
    json_items tools(request["tools"]);
    while (tools.next()) {
        if (find_member(tools.value(), "input_schema").empty()) continue;
        if (first.empty()) first = tools.value();
        if (!wanted.empty() && find_member(tools.value(), "name") == wanted) return tools.value();
    }
    return first;
}

std::string_view schema_to_fill(std::string_view response_format) {
    const std::string_view type = find_member(response_format, "type");
    if (type == "\"json_object\"") return R"({"properties":{"answer":{"type":"string"}}})";
    if (type != "\"json_schema\"") return {};
    return find_member(find_member(response_format, "json_schema"), "schema");
}

std::optional<unsigned> alternatives(const members_of& request) {
    const std::string_view logprobs = request["logprobs"];
    if (const auto wanted = count(logprobs)) return static_cast<unsigned>(std::min<std::uint64_t>(*wanted, 20));
    if (logprobs != "true") return std::nullopt;
    return static_cast<unsigned>(std::min<std::uint64_t>(count(request["top_logprobs"]).value_or(0), 20));
}

}  // namespace

asked read_request(std::string_view body, std::string_view input_member) {
    asked a;
    const members_of request(body);
    a.model = string_text(request["model"]).value_or("");
    a.state = request.content();
    a.vector_state = meaning(request["model"]);
    a.sampled = number_value(request["temperature"]) != 0.0;
    if (const auto seed = request["seed"]; kind_of(seed) == json_kind::number) {
        a.seeded = true;
        if (a.sampled) a.state = mix(a.state ^ meaning(seed) ^ meaning(request["temperature"]));
    }
    a.prompt_tokens = request[input_member].size() / 4 + 1;
    a.stream = request["stream"] == "true";
    a.include_usage = find_member(request["stream_options"], "include_usage") == "true";
    a.n = static_cast<unsigned>(std::clamp<std::uint64_t>(count(request["n"]).value_or(1), 1, 128));
    a.limit = count(request["max_completion_tokens"]);
    if (!a.limit) a.limit = count(request["max_tokens"]);
    a.logprobs = alternatives(request);
    a.token_ids = request["return_token_ids"] == "true";
    a.stop = stops_of(request["stop"]);
    a.inputs = inputs_of(request[input_member]);
    const std::string_view tool = tool_to_call(request);
    a.tool_name = find_member(tool, "name");
    a.tool_schema = find_member(tool, "parameters");
    a.schema = schema_to_fill(request["response_format"]);
    a.echo = request["echo"] == "true";
    a.base64 = request["encoding_format"] == "\"base64\"";
    a.dimensions = std::min<std::uint64_t>(count(request["dimensions"]).value_or(0), 4096);
    read_cache_use(a, request);
    a.bad = a.model.empty() || a.inputs.empty() || a.inputs.front().empty();
    return a;
}

asked read_messages_request(std::string_view body) {
    asked a;
    const members_of request(body);
    a.model = string_text(request["model"]).value_or("");
    a.state = request.content();
    a.sampled = number_value(request["temperature"]) != 0.0;
    a.prompt_tokens = (request["system"].size() + request["messages"].size() + request["tools"].size()) / 4 + 1;
    a.stream = request["stream"] == "true";
    a.limit = count(request["max_tokens"]);
    a.stop = stops_of(request["stop_sequences"]);
    a.inputs = {request["messages"]};
    const std::string_view tool = client_tool_to_call(request);
    a.tool_name = find_member(tool, "name");
    a.tool_schema = find_member(tool, "input_schema");
    a.schema = find_member(find_member(request["output_config"], "format"), "schema");
    const std::string_view thinking = find_member(request["thinking"], "type");
    a.thinks = thinking == "\"enabled\"" || thinking == "\"adaptive\"";
    read_cache_use(a, request);
    a.bad = a.model.empty() || kind_of(request["messages"]) != json_kind::array;
    return a;
}

asked read_native_request(std::string_view body, std::string_view input_member, std::string_view nested) {
    asked a;
    const members_of request(body, nested);
    const auto first_of = [&](std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names) {
            if (!request[name].empty()) return request[name];
        }
        return std::string_view{};
    };
    a.model = string_text(request["model"]).value_or("");
    a.state = request.content();
    a.vector_state = meaning(request["model"]);
    a.sampled = number_value(request["temperature"]) != 0.0;
    if (const auto seed = first_of({"seed", "sampling_seed"}); kind_of(seed) == json_kind::number && seed != "-1") {
        a.seeded = true;
        if (a.sampled) a.state = mix(a.state ^ meaning(seed) ^ meaning(request["temperature"]));
    }
    a.prompt_tokens = request[input_member].size() / 4 + 1;
    a.stream = request["stream"] == "true";
    a.n = static_cast<unsigned>(std::clamp<std::uint64_t>(count(first_of({"n_cmpl", "n"})).value_or(1), 1, 128));
    a.limit = count(first_of({"num_predict", "n_predict", "max_new_tokens", "max_tokens"}));
    a.stop = stops_of(request["stop"]);
    a.inputs = inputs_of(request[input_member]);
    const std::string_view tool = tool_to_call(request);
    a.tool_name = find_member(tool, "name");
    a.tool_schema = find_member(tool, "parameters");
    const std::string_view format = first_of({"format", "json_schema"});
    if (format == "\"json\"") a.schema = R"({"properties":{"answer":{"type":"string"}}})";
    if (kind_of(format) == json_kind::object) a.schema = format;
    const std::string_view think = request["think"];
    a.thinks = think == "true" || kind_of(think) == json_kind::string;
    a.dimensions = std::min<std::uint64_t>(count(request["dimensions"]).value_or(0), 4096);
    read_cache_use(a, request);
    a.bad = a.inputs.empty() || a.inputs.front().empty();
    return a;
}

}  // namespace idem::upstream::simulate
