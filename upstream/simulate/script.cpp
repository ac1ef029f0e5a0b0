#include "upstream/simulate/script.hpp"

#include <algorithm>
#include <charconv>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/asked.hpp"
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;
using nanoseconds = std::chrono::nanoseconds;

answer object_answer(std::string body, unsigned status = 200, nanoseconds wait = {}) {
    answer out;
    out.status = status;
    out.pieces.push_back({wait, std::move(body)});
    return out;
}

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

// Always of one length, so that two answers of one request are.
std::string hex_id(std::string_view prefix, std::uint64_t id) {
    static constexpr char hex[] = "0123456789abcdef";
    std::string out(prefix);
    for (std::uint64_t rest = mix(id), i = 0; i < 16; ++i, rest >>= 4U) out += hex[rest & 15U];
    return out;
}

// Cuts the text at the first stop string; tokens before it stay whole.
void apply_stop(choice_text& c, const std::vector<std::string>& stops) {
    std::string text;
    for (const std::string& token : c.tokens) text += token;
    std::size_t cut = std::string::npos;
    for (const std::string& stop : stops) {
        const std::size_t at = text.find(stop);
        if (at >= cut) continue;
        cut = at;
        c.stop = stop;
    }
    if (cut == std::string::npos) return;
    std::size_t size = 0;
    for (std::size_t i = 0; i < c.tokens.size(); ++i) {
        if (size + c.tokens[i].size() >= cut) {
            c.tokens[i].resize(cut - size);
            c.tokens.resize(c.tokens[i].empty() ? i : i + 1);
            break;
        }
        size += c.tokens[i].size();
    }
    c.finish = "stop";
}

choice_text write_choice(const simulate_options& options, const asked& a, std::uint64_t state, const chance& luck) {
    choice_text c;
    c.state = state;
    const bool flips = luck.flip < options.flip_hazard;
    if (!a.tool_name.empty()) {
        if (flips) state = mix(state ^ luck.seed);
        c.tool_call = true;
        c.finish = "tool_calls";
        c.tool_name = a.tool_name;
        c.tokens = slices(json_for_schema(a.tool_schema, state));
        return c;
    }
    if (!a.schema.empty()) {
        c.tokens = slices(json_for_schema(a.schema, flips ? mix(state ^ luck.seed) : state));
    } else {
        c.tokens = words(state, options.tokens);
        if (flips && !c.tokens.empty()) {
            const std::size_t from = mix(luck.seed) % c.tokens.size();
            const auto other = words(mix(state ^ luck.seed), c.tokens.size());
            std::copy(other.begin() + static_cast<std::ptrdiff_t>(from), other.end(),
                      c.tokens.begin() + static_cast<std::ptrdiff_t>(from));
            if (from == 0) c.tokens.front() = "Otherwise";
        }
    }
    if (a.limit && *a.limit < c.tokens.size()) {
        c.tokens.resize(*a.limit);
        c.finish = "length";
    }
    apply_stop(c, a.stop);
    return c;
}

std::vector<choice_text> write_choices(const simulate_options& options, const asked& a, const chance& luck) {
    std::vector<choice_text> out;
    const bool many = a.inputs.size() > 1;
    std::uint64_t base = a.state;
    if (a.sampled && !a.seeded) base = mix(base ^ luck.seed);
    for (std::size_t p = 0; p < a.inputs.size(); ++p) {
        for (unsigned k = 0; k < a.n; ++k) {
            std::uint64_t state = base;
            if (many) state = mix(state ^ meaning(a.inputs[p]) ^ p);
            if (a.sampled && k > 0) state = mix(state + k);
            choice_text c = write_choice(options, a, state, luck);
            if (a.echo) c.tokens.insert(c.tokens.begin(), string_text(a.inputs[p]).value_or(""));
            out.push_back(std::move(c));
        }
    }
    return out;
}

nanoseconds step_of(const simulate_options& options) {
    if (options.tokens_per_second <= 0) return {};
    return nanoseconds(static_cast<std::int64_t>(1e9 / options.tokens_per_second));
}

enum class api_kind : std::uint8_t { chat, completions, embeddings, messages, count_tokens };

struct api {
    std::string_view path;
    api_kind kind;
    std::string_view input;
    std::string_view id_prefix;
    [[nodiscard]] bool anthropic() const noexcept { return kind >= api_kind::messages; }
};
constexpr api apis[] = {{"/v1/chat/completions", api_kind::chat, "messages", "chatcmpl-"},
                        {"/v1/completions", api_kind::completions, "prompt", "cmpl-"},
                        {"/v1/embeddings", api_kind::embeddings, "input", ""},
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
    if (kind == api_kind::chat) return chat_stream(a, f, choices, latency, step);
    if (kind == api_kind::messages) return message_stream(a, f, choices.front(), latency, step);
    return completion_stream(a, f, choices, latency, step);
}

std::string object_of(api_kind kind, const asked& a, const answer_facts& f, const std::vector<choice_text>& choices) {
    if (kind == api_kind::chat) return chat_object(a, f, choices);
    if (kind == api_kind::messages) return message_object(a, f, choices.front());
    return completion_object(a, f, choices);
}

answer text_answer(const simulate_options& options, const api& which, const asked& a, const chance& luck) {
    const std::vector<choice_text> choices = write_choices(options, a, luck);
    const answer_facts facts{hex_id(which.id_prefix, luck.id), luck.now, a.model, options.version};
    const nanoseconds step = step_of(options);
    if (a.stream) {
        answer out;
        out.content_type = "text/event-stream; charset=utf-8";
        out.stream = true;
        out.pieces = stream_of(which.kind, a, facts, choices, options.latency, step);
        return out;
    }
    std::size_t longest = 0;
    for (const choice_text& c : choices) longest = std::max(longest, c.tokens.size());
    return object_answer(object_of(which.kind, a, facts, choices), 200,
                         options.latency + step * static_cast<std::int64_t>(longest));
}

// "error-429" asks for that status.
unsigned status_asked(std::string_view model) {
    constexpr std::string_view prefix = "error-";
    unsigned status = 0;
    if (model.starts_with(prefix)) std::from_chars(model.data() + prefix.size(), model.data() + model.size(), status);
    return status >= 400 && status <= 599 ? status : 0;
}

answer model_answer(const simulate_options& options, const api& which, std::string_view body, const chance& luck) {
    const auto error = [&which](unsigned status, std::string_view message) {
        return error_answer(status, message, which.anthropic());
    };
    if (luck.error < options.error_rate) return error(500, "simulated failure");
    if (!is_json(body) || kind_of(trim(body)) != json_kind::object) return error(400, "the body is not a JSON object");
    asked a = which.anthropic() ? read_messages_request(body) : read_request(body, which.input);
    if (a.bad) return error(400, "model and input are required");
    if (const unsigned status = status_asked(a.model)) return error(status, "the model's name asked for this");
    switch (which.kind) {
        case api_kind::embeddings:
            if (luck.flip < options.flip_hazard) a.vector_state = mix(a.vector_state ^ luck.seed);
            return object_answer(embeddings_object(a), 200, options.latency);
        case api_kind::count_tokens:
            return object_answer(R"({"input_tokens":)" + std::to_string(a.prompt_tokens) + "}", 200, options.latency);
        case api_kind::chat:
            a.inputs.resize(1);
            break;
        case api_kind::messages:
            if (!a.limit) return error(400, "max_tokens: Field required");
            break;
        case api_kind::completions:
            break;
    }
    return text_answer(options, which, a, luck);
}

std::string model_object(const simulate_options& options, std::string_view id) {
    std::string out = R"({"id":)";
    append_json_string(out, id);
    out += R"(,"object":"model","created":1700000000,"owned_by":)";
    append_json_string(out, options.engine);
    return out + "}";
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
    return api_of(method, path) != nullptr;
}

answer plan(const simulate_options& options, std::string_view method, std::string_view path, std::string_view body,
            const chance& luck) {
    if (const api* which = api_of(method, path)) {
        answer out = model_answer(options, *which, body, luck);
        out.model_call = true;
        return out;
    }
    constexpr std::string_view models = "/v1/models";
    if (method == "GET" || method == "HEAD") {
        if (path == "/health") return object_answer(R"({"status":"ok"})");
        if (path == models) {
            return object_answer(R"({"object":"list","data":[)" + model_object(options, options.model) + "]}");
        }
        if (path.starts_with("/v1/models/"))
            return object_answer(model_object(options, path.substr(models.size() + 1)));
    }
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
