#include "gateway/eval/token_input.hpp"

#include <algorithm>
#include <boost/json.hpp>

namespace idem::gateway::eval {

namespace json = boost::json;

namespace {

constexpr std::string_view chat = "/v1/chat/completions", completions = "/v1/completions", native = "/completion";

std::optional<json::object> object_in(std::string_view text) {
    boost::system::error_code ec;
    json::value v = json::parse(text, ec);
    if (ec || !v.is_object()) return std::nullopt;
    return std::move(v.get_object());
}

// Whole numbers, and one at least.
bool are_ids(const json::value* v) {
    return v && v->is_array() && !v->get_array().empty() &&
           std::ranges::all_of(v->get_array(), [](const json::value& id) {
               return (id.is_int64() && id.get_int64() >= 0) || id.is_uint64();
           });
}

void move_member(const json::object& from, std::string_view name, json::object& to, std::string_view as) {
    if (const json::value* v = from.if_contains(name)) to[as] = *v;
}

// What a conversation has and a completion has not, its prompt apart.
void as_completion(json::object& body) {
    for (const std::string_view name : {"messages", "tools", "tool_choice", "parallel_tool_calls",
                                        "chat_template_kwargs", "add_generation_prompt", "reasoning_effort"})
        body.erase(name);
    if (!body.contains("max_tokens")) move_member(json::object(body), "max_completion_tokens", body, "max_tokens");
    body.erase("max_completion_tokens");
    // There it is a number: of the alternatives that are told.
    if (const json::value* v = body.if_contains("logprobs"); v && v->is_bool()) {
        const json::value* alternatives = body.if_contains("top_logprobs");
        const json::value number = alternatives ? *alternatives : json::value(1);
        if (v->get_bool())
            body["logprobs"] = number;
        else
            body.erase("logprobs");
    }
    body.erase("top_logprobs");
}

}  // namespace

bool takes_tokens(std::string_view engine) noexcept {
    return engine == "vllm" || engine == "sglang" || engine == "llamacpp";
}

std::optional<token_call> next_token_call(std::string_view engine, const prompt& p, std::string_view model,
                                          std::string_view answer, std::string& why) {
    const auto body = object_in(p.body);
    const bool of_api = p.path == chat || p.path == completions || (p.path == native && engine == "llamacpp");
    const json::value* text = body ? body->if_contains("prompt") : nullptr;
    if (!body || !of_api || (p.path != chat && (!text || !text->is_string()))) {
        why = "the prompt \"" + p.id + "\" is neither a chat nor a completion of one text";
        return std::nullopt;
    }
    json::object ask;
    if (engine != "llamacpp") {
        if (!answer.empty()) return std::nullopt;
        if (!model.empty()) ask["model"] = model;
        for (const std::string_view name : {"prompt", "messages", "tools", "chat_template_kwargs"})
            move_member(*body, name, ask, name);
        return token_call{"/tokenize", json::serialize(ask)};
    }
    const auto said = object_in(answer);
    if (said && said->contains("tokens")) return std::nullopt;
    if (p.path == chat && answer.empty()) {
        for (const std::string_view name : {"messages", "tools", "chat_template_kwargs"})
            move_member(*body, name, ask, name);
        return token_call{"/apply-template", json::serialize(ask)};
    }
    if (p.path == chat) text = said ? said->if_contains("prompt") : nullptr;
    if (!text || !text->is_string()) {
        why = "the answer of /apply-template has no prompt";
        return std::nullopt;
    }
    // As its own completions tokenize a text.
    return token_call{
        "/tokenize", json::serialize(json::object{{"content", *text}, {"add_special", true}, {"parse_special", true}})};
}

std::optional<prompt> with_token_ids(std::string_view engine, const prompt& p, std::string_view answer,
                                     std::string& why) {
    const auto said = object_in(answer);
    auto body = object_in(p.body);
    const json::value* ids = said ? said->if_contains("tokens") : nullptr;
    if (!body || !are_ids(ids)) {
        why = "the answer of /tokenize has no list of token ids";
        return std::nullopt;
    }
    prompt out = p;
    as_completion(*body);
    (*body)["prompt"] = *ids;
    if (p.path == chat) out.path = completions;
    (*body)[engine == "llamacpp" ? "return_tokens" : "return_token_ids"] = true;
    out.body = json::serialize(*body);
    return out;
}

bool has_token_ids(const prompt& p) {
    const auto body = object_in(p.body);
    return body && are_ids(body->if_contains("prompt"));
}

}  // namespace idem::gateway::eval
