// Gemini's generateContent and its plain calls.
#include <algorithm>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/asked.hpp"
#include "upstream/simulate/members.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;

// The first of the allowed functions, else the first; none once a function has answered or where the caller forbids it.
std::string_view function_to_call(const members_of& request) {
    const std::string_view choice = find_member(request["toolConfig"], "functionCallingConfig");
    if (find_member(choice, "mode") == "\"NONE\"") return {};
    json_items parts(find_member(last_item(request["contents"]), "parts"));
    while (parts.next()) {
        if (!find_member(parts.value(), "functionResponse").empty()) return {};
    }
    json_items allowed(find_member(choice, "allowedFunctionNames"));
    const std::string_view wanted = allowed.next() ? allowed.value() : std::string_view();
    std::string_view first;
    json_items tools(request["tools"]);
    while (tools.next()) {
        json_items functions(find_member(tools.value(), "functionDeclarations"));
        while (functions.next()) {
            if (first.empty()) first = functions.value();
            if (!wanted.empty() && find_member(functions.value(), "name") == wanted) return functions.value();
        }
    }
    return first;
}

// Of members that mean the same; SDKs mix their spellings.
std::string_view first_of(std::string_view object, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        if (const std::string_view value = find_member(object, name); !value.empty()) return value;
    }
    return {};
}

}  // namespace

asked read_gemini_request(std::string_view body, std::string_view model) {
    asked a;
    const members_of request(body, "generationConfig");
    std::string name;
    append_json_string(name, model);
    a.model = model;
    a.state = mix(request.content() ^ meaning(name));
    a.vector_state = meaning(name);
    a.sampled = number_value(request["temperature"]) != 0.0;
    if (const auto seed = request["seed"]; kind_of(seed) == json_kind::number) {
        a.seeded = true;
        if (a.sampled) a.state = mix(a.state ^ meaning(seed) ^ meaning(request["temperature"]));
    }
    a.prompt_tokens =
        (request["systemInstruction"].size() + request["contents"].size() + request["tools"].size()) / 4 + 1;
    a.n = static_cast<unsigned>(std::clamp<std::uint64_t>(count(request["candidateCount"]).value_or(1), 1, 8));
    a.limit = count(request["maxOutputTokens"]);
    a.stop = stops_of(request["stopSequences"]);
    const std::string_view function = function_to_call(request);
    a.tool_name = find_member(function, "name");
    a.tool_schema = first_of(function, {"parametersJsonSchema", "parameters_json_schema", "parameters"});
    a.schema = request[request["responseJsonSchema"].empty() ? "responseSchema" : "responseJsonSchema"];
    a.thinks = first_of(request["thinkingConfig"], {"includeThoughts", "include_thoughts"}) == "true";
    if (const std::string_view many = request["requests"]; !many.empty()) {
        json_items items(many);
        while (items.next()) a.inputs.push_back(find_member(items.value(), "content"));
        a.dimensions = count(find_member(last_item(many), "outputDimensionality")).value_or(0);
    } else {
        for (const char* where : {"contents", "content", "generateContentRequest"}) {
            if (a.inputs.empty() && !request[where].empty()) a.inputs.push_back(request[where]);
        }
        a.dimensions = count(request["outputDimensionality"]).value_or(0);
    }
    a.dimensions = std::min<std::uint64_t>(a.dimensions, 4096);
    a.bad = a.inputs.empty() || std::ranges::any_of(a.inputs, [](std::string_view i) { return i.empty(); });
    return a;
}

}  // namespace idem::upstream::simulate
