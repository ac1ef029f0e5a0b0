#include "upstream/simulate/native.hpp"

#include <algorithm>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/choices.hpp"
#include "upstream/simulate/influence.hpp"
#include "upstream/simulate/render_native.hpp"
#include "upstream/simulate/shown.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;

enum class api : std::uint8_t {
    ollama_chat,
    ollama_generate,
    ollama_embed,
    ollama_embeddings,
    llamacpp,
    llamacpp_embedding,
    rerank,
    tokenize,
    apply_template,
    sglang,
    tgi,
    tgi_stream,
    tgi_root,
};

struct endpoint {
    std::string_view path;
    api kind;
    std::string_view input;   // the member that is asked about
    std::string_view nested;  // the object that shapes the sampling
};
constexpr endpoint endpoints[] = {
    {"/api/chat", api::ollama_chat, "messages", "options"},
    {"/api/generate", api::ollama_generate, "prompt", "options"},
    {"/api/embed", api::ollama_embed, "input", "options"},
    {"/api/embeddings", api::ollama_embeddings, "prompt", "options"},
    {"/completion", api::llamacpp, "prompt", ""},
    {"/infill", api::llamacpp, "input_prefix", ""},
    {"/embedding", api::llamacpp_embedding, "content", ""},
    {"/rerank", api::rerank, "documents", ""},
    {"/tokenize", api::tokenize, "content", ""},
    {"/tokenize", api::tokenize, "prompt", ""},
    {"/tokenize", api::tokenize, "messages", ""},
    {"/apply-template", api::apply_template, "messages", ""},
    {"/generate", api::sglang, "text", "sampling_params"},
    {"/generate", api::tgi, "inputs", "parameters"},
    {"/generate_stream", api::tgi_stream, "inputs", "parameters"},
    {"/", api::tgi_root, "inputs", "parameters"},
};

// Of two APIs on one path, the one whose input the body has.
const endpoint* endpoint_of(std::string_view path, std::string_view body) noexcept {
    const endpoint* first = nullptr;
    for (const endpoint& each : endpoints) {
        if (each.path != path) continue;
        if (!first) first = &each;
        if (!find_member(body, each.input).empty()) return &each;
    }
    return first;
}

std::string error_of(api kind, unsigned status, std::string_view message) {
    std::string text;
    append_json_string(text, message);
    if (kind <= api::ollama_embeddings) return R"({"error":)" + text + "}";
    if (kind >= api::tgi) return R"({"error":)" + text + R"(,"error_type":"generation"})";
    return R"({"error":{"code":)" + std::to_string(status) + R"(,"message":)" + text + R"(,"type":"server_error"}})";
}

answer streamed(std::string_view type, std::vector<piece> pieces) {
    answer out;
    out.content_type = type;
    out.stream = true;
    out.pieces = std::move(pieces);
    return out;
}

constexpr std::string_view events = "text/event-stream";

answer text_answer(const simulate_options& options, api kind, const asked& a, const native_facts& f,
                   const chance& luck) {
    const std::vector<choice_text> choices = write_choices(options, a, luck);
    const pace at{options.latency, step_of(options)};
    std::size_t longest = 0;
    for (const choice_text& c : choices) longest = std::max(longest, c.tokens.size());
    const auto object = [&](std::string body) {
        return object_answer(std::move(body), 200, at.latency + at.step * static_cast<std::int64_t>(longest));
    };
    const ollama_api which = kind == api::ollama_chat ? ollama_api::chat : ollama_api::generate;
    switch (kind) {
        case api::ollama_chat:
        case api::ollama_generate:
            if (a.stream) return streamed("application/x-ndjson", ollama_lines(which, a, f, choices.front(), at));
            return object(ollama_object(which, a, f, choices.front()));
        case api::llamacpp:
            if (a.stream) return streamed(events, llamacpp_stream(a, f, choices, at));
            return object(llamacpp_object(a, f, choices));
        case api::sglang:
            if (a.stream) return streamed(events, sglang_stream(a, f, choices, at));
            return object(sglang_object(a, f, choices));
        default:
            if (a.stream) return streamed(events, tgi_stream(a, f, choices.front(), at));
            return object(kind == api::tgi_root ? "[" + tgi_object(a, f, choices.front()) + "]"
                                                : tgi_object(a, f, choices.front()));
    }
}

}  // namespace

bool is_native_call(std::string_view method, std::string_view path) noexcept {
    return method == "POST" && endpoint_of(path, {}) != nullptr;
}

answer native_answer(const simulate_options& options, std::string_view path, std::string_view body,
                     const chance& luck) {
    const endpoint& at = *endpoint_of(path, body);
    const auto error = [&](unsigned status, std::string_view message) {
        return object_answer(error_of(at.kind, status, message), status);
    };
    if (luck.starting) return error(503, "Loading model");
    if (luck.error < options.error_rate) return error(500, "simulated failure");
    if (!is_json(body) || kind_of(trim(body)) != json_kind::object) return error(400, "the body is not a JSON object");
    asked a = read_native_request(body, at.input, at.nested);
    const bool ollama = at.kind <= api::ollama_embeddings;
    if (ollama && a.model.empty()) return error(400, "model is required");
    if (a.bad) return error(400, std::string(at.input) + " is required");
    if (const unsigned status = status_asked(a.model)) return error(status, "the model's name asked for this");

    native_facts facts;
    facts.model = a.model.empty() ? options.model : a.model;
    facts.id = hex_id("", luck.id);
    facts.now = luck.now;
    facts.noise = mix(luck.id);
    facts.body = body;
    facts.weight_version = weight_version(options, luck);
    if (at.kind >= api::tgi) a.sampled = find_member(find_member(body, "parameters"), "do_sample") == "true";
    influence(a, options, luck, at.kind == api::ollama_chat || at.kind == api::ollama_generate);
    switch (at.kind) {
        case api::ollama_embed:
        case api::ollama_embeddings:
            return object_answer(ollama_vectors(at.kind == api::ollama_embed, a, facts), 200, options.latency);
        case api::llamacpp_embedding:
            return object_answer(llamacpp_vectors(a), 200, options.latency);
        case api::rerank:
            return object_answer(rerank_object(a, facts), 200, options.latency);
        case api::tokenize:
            return object_answer(tokens_object(a), 200, options.latency);
        case api::apply_template:
            return object_answer(template_object(a), 200, options.latency);
        case api::ollama_chat:
        case api::ollama_generate:
            a.stream = find_member(body, "stream") != "false";
            if (at.kind == api::ollama_chat) a.inputs.resize(1);
            break;
        case api::tgi:
        case api::tgi_stream:
        case api::tgi_root:
            if (at.kind != api::tgi_root) a.stream = at.kind == api::tgi_stream;
            break;
        default:
            break;
    }
    return text_answer(options, at.kind, a, facts, luck);
}

}  // namespace idem::upstream::simulate
