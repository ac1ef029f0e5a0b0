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

answer error_answer(unsigned status, std::string_view message) {
    std::string body = R"({"error":{"message":)";
    append_json_string(body, message);
    body += status < 500 ? R"(,"type":"invalid_request_error")" : R"(,"type":"server_error")";
    body += R"(,"param":null,"code":null}})";
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
    for (const std::string& stop : stops) cut = std::min(cut, text.find(stop));
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
    if (!a.tool.empty()) {
        if (flips) state = mix(state ^ luck.seed);
        c.tool_call = true;
        c.finish = "tool_calls";
        c.tool_name = find_member(a.tool, "name");
        c.tokens = slices(json_for_schema(find_member(a.tool, "parameters"), state));
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

struct api {
    std::string_view path;
    std::string_view input;
    std::string_view id_prefix;
};
constexpr api apis[] = {{"/v1/chat/completions", "messages", "chatcmpl-"},
                        {"/v1/completions", "prompt", "cmpl-"},
                        {"/v1/embeddings", "input", ""}};

const api* api_of(std::string_view method, std::string_view path) noexcept {
    if (method != "POST") return nullptr;
    for (const api& each : apis) {
        if (path == each.path) return &each;
    }
    return nullptr;
}

answer text_answer(const simulate_options& options, const api& which, const asked& a, const chance& luck) {
    const bool chat = which.input == "messages";
    const std::vector<choice_text> choices = write_choices(options, a, luck);
    const answer_facts facts{hex_id(which.id_prefix, luck.id), luck.now, a.model, options.version};
    const nanoseconds step = step_of(options);
    if (a.stream) {
        answer out;
        out.content_type = "text/event-stream; charset=utf-8";
        out.stream = true;
        out.pieces = chat ? chat_stream(a, facts, choices, options.latency, step)
                          : completion_stream(a, facts, choices, options.latency, step);
        return out;
    }
    std::size_t longest = 0;
    for (const choice_text& c : choices) longest = std::max(longest, c.tokens.size());
    return object_answer(chat ? chat_object(a, facts, choices) : completion_object(a, facts, choices), 200,
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
    if (luck.error < options.error_rate) return error_answer(500, "simulated failure");
    if (!is_json(body) || kind_of(trim(body)) != json_kind::object) {
        return error_answer(400, "the body is not a JSON object");
    }
    asked a = read_request(body, which.input);
    if (a.bad) return error_answer(400, "model and input are required");
    if (const unsigned status = status_asked(a.model)) return error_answer(status, "the model's name asked for this");
    if (which.input == "input") {
        if (luck.flip < options.flip_hazard) a.vector_state = mix(a.vector_state ^ luck.seed);
        return object_answer(embeddings_object(a), 200, options.latency);
    }
    if (which.input == "messages") a.inputs.resize(1);
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
