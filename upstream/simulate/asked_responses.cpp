// OpenAI's responses.
#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/asked.hpp"
#include "upstream/simulate/members.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;

// The named tool, else the first of the client's; none once a tool has answered or where the caller forbids it.
std::string_view tool_to_call(const members_of& request) {
    const std::string_view choice = request["tool_choice"];
    const std::string_view last = find_member(last_item(request["input"]), "type");
    if (choice == "\"none\"" || last == "\"function_call_output\"" || last == "\"custom_tool_call_output\"") return {};
    const std::string_view wanted = find_member(choice, "name");
    std::string_view first;
    json_items tools(request["tools"]);
    while (tools.next()) {
        const std::string_view type = find_member(tools.value(), "type");
        if (type != "\"function\"" && type != "\"custom\"") continue;
        if (first.empty()) first = tools.value();
        if (!wanted.empty() && find_member(tools.value(), "name") == wanted) return tools.value();
    }
    return first;
}

}  // namespace

asked read_responses_request(std::string_view body) {
    asked a;
    const members_of request(body);
    a.model = string_text(request["model"]).value_or("");
    a.state = request.content();
    a.sampled = number_value(request["temperature"]) != 0.0;
    a.prompt_tokens = (request["instructions"].size() + request["input"].size() + request["tools"].size()) / 4 + 1;
    a.stream = request["stream"] == "true";
    a.limit = count(request["max_output_tokens"]);
    a.inputs = {request["input"]};
    const std::string_view tool = tool_to_call(request);
    a.tool_name = find_member(tool, "name");
    a.tool_schema = find_member(tool, "parameters");
    a.custom_tool = find_member(tool, "type") == "\"custom\"";
    a.schema = find_member(find_member(request["text"], "format"), "schema");
    a.thinks = kind_of(find_member(request["reasoning"], "effort")) == json_kind::string;
    read_cache_use(a, request);
    a.bad = a.model.empty() || request["input"].empty();
    return a;
}

}  // namespace idem::upstream::simulate
