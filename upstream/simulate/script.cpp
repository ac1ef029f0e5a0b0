#include "upstream/simulate/script.hpp"

#include <algorithm>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/asked.hpp"
#include "upstream/simulate/choices.hpp"
#include "upstream/simulate/gemini.hpp"
#include "upstream/simulate/influence.hpp"
#include "upstream/simulate/native.hpp"
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/shown.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;
using nanoseconds = std::chrono::nanoseconds;

std::string_view error_type(unsigned status, bool anthropic) noexcept {
    switch (status) {
        case 401:
            return "authentication_error";
        case 403:
            return "permission_error";
        case 404:
            return "not_found_error";
        case 429:
            return "rate_limit_error";
        default:
            if (status < 500) return "invalid_request_error";
            return anthropic ? "api_error" : "server_error";
    }
}

answer error_answer(unsigned status, std::string_view message, bool anthropic = false) {
    std::string body = anthropic ? R"({"type":"error","error":{"message":)" : R"({"error":{"message":)";
    append_json_string(body, message);
    body.append(R"(,"type":")").append(error_type(status, anthropic)).append("\"");
    body += anthropic ? R"(},"request_id":null})" : R"(,"param":null,"code":null}})";
    return object_answer(std::move(body), status);
}

enum class api_kind : std::uint8_t {
    chat,
    fim,
    completions,
    embeddings,
    responses,
    moderations,
    images,
    speech,
    messages,
    count_tokens
};

struct api {
    std::string_view path;
    api_kind kind;
    std::string_view input;
    std::string_view id_prefix;
    [[nodiscard]] bool anthropic() const noexcept { return kind >= api_kind::messages; }
    [[nodiscard]] bool templated() const noexcept {
        return anthropic() || kind == api_kind::chat || kind == api_kind::responses;
    }
};
constexpr api apis[] = {{"/v1/chat/completions", api_kind::chat, "messages", "chatcmpl-"},
                        {"/v1/fim/completions", api_kind::fim, "prompt", ""},
                        {"/v1/completions", api_kind::completions, "prompt", "cmpl-"},
                        {"/v1/embeddings", api_kind::embeddings, "input", ""},
                        {"/v1/responses", api_kind::responses, "input", "resp_"},
                        {"/v1/moderations", api_kind::moderations, "input", "modr-"},
                        {"/v1/images/generations", api_kind::images, "prompt", ""},
                        {"/v1/audio/speech", api_kind::speech, "input", ""},
                        {"/v1/messages", api_kind::messages, "messages", "msg_"},
                        {"/v1/messages/count_tokens", api_kind::count_tokens, "messages", ""}};

const api* api_of(std::string_view method, std::string_view path) noexcept {
    if (method != "POST") return nullptr;
    for (const api& each : apis) {
        if (path == each.path) return &each;
    }
    return nullptr;
}

std::vector<piece> stream_of(api_kind kind, const asked& a, const answer_facts& f,
                             const std::vector<choice_text>& choices, nanoseconds latency, nanoseconds step) {
    if (kind == api_kind::responses) return response_stream(a, f, choices.front(), latency, step);
    if (kind == api_kind::messages) return message_stream(a, f, choices.front(), latency, step);
    if (kind == api_kind::completions) return completion_stream(a, f, choices, latency, step);
    return chat_stream(a, f, choices, latency, step);
}

std::string object_of(api_kind kind, const asked& a, const answer_facts& f, const std::vector<choice_text>& choices) {
    if (kind == api_kind::responses) return response_object(a, f, choices.front());
    if (kind == api_kind::messages) return message_object(a, f, choices.front());
    if (kind == api_kind::completions) return completion_object(a, f, choices);
    return chat_object(a, f, choices);
}

answer text_answer(const simulate_options& options, const api& which, const asked& a, const answer_facts& facts,
                   const chance& luck) {
    const std::vector<choice_text> choices = write_choices(options, a, luck);
    const nanoseconds step = step_of(options);
    if (a.stream) {
        answer out;
        out.content_type = "text/event-stream; charset=utf-8";
        out.stream = true;
        out.pieces = stream_of(which.kind, a, facts, choices, options.latency, step);
        out.model = a.model;
        return out;
    }
    std::size_t longest = 0;
    for (const choice_text& c : choices) longest = std::max(longest, c.tokens.size());
    answer out = object_answer(object_of(which.kind, a, facts, choices), 200,
                               options.latency + step * static_cast<std::int64_t>(longest));
    out.model = a.model;
    return out;
}

asked read_body(const api& which, std::string_view body) {
    if (which.anthropic()) return read_messages_request(body);
    return which.kind == api_kind::responses ? read_responses_request(body) : read_request(body, which.input);
}

answer model_answer(const simulate_options& options, const api& which, std::string_view body, const chance& luck) {
    const auto error = [&which](unsigned status, std::string_view message) {
        return error_answer(status, message, which.anthropic());
    };
    const auto object = [&options](std::string text) { return object_answer(std::move(text), 200, options.latency); };
    if (luck.starting) return error(503, "The model is loading");
    if (luck.error < options.error_rate) return error(500, "simulated failure");
    if (!is_json(body) || kind_of(trim(body)) != json_kind::object) return error(400, "the body is not a JSON object");
    asked a = read_body(which, body);
    if (a.bad) return error(400, "model and input are required");
    if (const unsigned status = status_asked(a.model)) return error(status, "the model's name asked for this");
    answer_facts facts{hex_id(which.id_prefix, luck.id), luck.now, a.model};
    show_environment(facts, options, luck);
    influence(a, options, luck, which.templated());
    switch (which.kind) {
        case api_kind::embeddings:
            return object(embeddings_object(a));
        case api_kind::count_tokens:
            return object(R"({"input_tokens":)" + std::to_string(a.prompt_tokens) + "}");
        case api_kind::moderations:
            return object(moderation_object(a, facts));
        case api_kind::images:
            return object(images_object(a, facts));
        case api_kind::speech: {
            answer out = object(speech_audio(a));
            out.content_type = "audio/wav";
            return out;
        }
        case api_kind::fim:
            a.usage_at_end = true;  // Mistral's streams always say it
            a.inputs.resize(1);
            break;
        case api_kind::chat:
            a.inputs.resize(1);
            break;
        case api_kind::messages:
            if (!a.limit) return error(400, "max_tokens: Field required");
            break;
        case api_kind::completions:
        case api_kind::responses:
            break;
    }
    return text_answer(options, which, a, facts, luck);
}

// The value of name="…" or filename="…" in a part's Content-Disposition.
std::string_view quoted_parameter(std::string_view head, std::string_view name) {
    const std::size_t at = head.find(name);
    if (at == std::string_view::npos) return {};
    const std::size_t begin = at + name.size();
    const std::size_t end = head.find('"', begin);
    return end == std::string_view::npos ? std::string_view{} : head.substr(begin, end - begin);
}

}  // namespace

bool is_model_call(std::string_view method, std::string_view path) noexcept {
    return api_of(method, path) != nullptr || is_gemini_call(method, path) || is_native_call(method, path);
}

answer plan(const simulate_options& options, std::string_view method, std::string_view target, std::string_view body,
            const chance& luck) {
    const std::string_view path = target.substr(0, target.find('?'));
    if (const api* which = api_of(method, path)) {
        answer out = model_answer(options, *which, body, luck);
        out.model_call = true;
        return out;
    }
    if (is_gemini_call(method, path)) {
        answer out = gemini_answer(options, target, body, luck);
        out.model_call = true;
        return out;
    }
    if (is_native_call(method, path)) {
        answer out = native_answer(options, path, body, luck);
        out.model_call = true;
        return out;
    }
    if (auto page = page_answer(options, method, target, luck)) return std::move(*page);
    return error_answer(404, "nothing here");
}

answer plan_upload(std::string_view head, std::uint64_t size, const chance& luck) {
    std::string body = R"({"id":)";
    append_json_string(body, hex_id("file-", luck.id));
    body += R"(,"object":"file","bytes":)" + std::to_string(size) + R"(,"created_at":)" + std::to_string(luck.now);
    body += R"(,"filename":)";
    append_json_string(body, quoted_parameter(head, "filename=\""));
    body += R"(,"purpose":"user_data","status":"processed"})";
    return object_answer(std::move(body));
}

}  // namespace idem::upstream::simulate
