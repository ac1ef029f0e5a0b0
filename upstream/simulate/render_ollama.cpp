// Ollama's answers.
#include <ctime>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/render_native.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

std::string time_text(const native_facts& f) {
    const std::time_t seconds = f.now;
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[40];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    return std::string(text, size) + "." + std::to_string(100000 + f.noise % 900000) + "Z";
}

std::string head(const native_facts& f) {
    return R"({"model":)" + quoted(f.model) + R"(,"created_at":")" + time_text(f) + "\"";
}

std::string calls(const choice_text& c) {
    return R"([{"id":"call_)" + std::to_string(mix(c.state) % 100000000U) + R"(","function":{"index":0,"name":)" +
           std::string(c.tool_name) + R"(,"arguments":)" + text_of(c, c.tokens.size()) + "}}]";
}

// The part of a line that carries words.
std::string payload(ollama_api which, std::string_view text, std::string_view thinking, std::string_view tool_calls) {
    std::string rest;
    if (!thinking.empty()) rest += R"(,"thinking":)" + quoted(thinking);
    if (!tool_calls.empty()) rest.append(R"(,"tool_calls":)").append(tool_calls);
    if (which == ollama_api::generate) return R"(,"response":)" + quoted(text) + rest;
    return R"(,"message":{"role":"assistant","content":)" + quoted(text) + rest + "}";
}

std::string tail(ollama_api which, const asked& a, const native_facts& f, const choice_text& c) {
    const std::uint64_t prompt_ns = 1000000 + f.noise % 1000000;
    const std::uint64_t eval_ns = 2000000 + mix(f.noise) % 1000000;
    std::string out = R"(,"done":true,"done_reason":)" + quoted(c.finish == "length" ? "length" : "stop");
    if (which == ollama_api::generate) {
        out += R"(,"context":[)" + std::to_string(a.prompt_tokens);
        if (!c.tokens.empty()) out += ',' + token_ids(c, 0, c.tokens.size());
        out += ']';
    }
    out += R"(,"total_duration":)" + std::to_string(prompt_ns + eval_ns + 500);
    out += R"(,"load_duration":500,"prompt_eval_count":)" + std::to_string(a.prompt_tokens);
    out += R"(,"prompt_eval_duration":)" + std::to_string(prompt_ns);
    out += R"(,"eval_count":)" + std::to_string(c.tokens.size()) + R"(,"eval_duration":)" + std::to_string(eval_ns);
    return out + "}";
}

}  // namespace

std::string ollama_object(ollama_api which, const asked& a, const native_facts& f, const choice_text& c) {
    const std::string text = c.tool_call ? "" : text_of(c, c.tokens.size());
    return head(f) + payload(which, text, joined(thoughts(a, c)), c.tool_call ? calls(c) : "") + tail(which, a, f, c);
}

std::vector<piece> ollama_lines(ollama_api which, const asked& a, const native_facts& f, const choice_text& c,
                                pace at) {
    std::vector<piece> out;
    const auto line = [&](std::string_view text, std::string_view thinking, std::string_view tool_calls) {
        out.push_back({out.empty() ? at.latency : at.step,
                       head(f) + payload(which, text, thinking, tool_calls) + ",\"done\":false}\n"});
    };
    if (a.thinks) line("", joined(thoughts(a, c)), "");
    if (c.tool_call) {
        line("", "", calls(c));
    } else {
        for (const std::string& token : c.tokens) line(token, "", "");
    }
    out.push_back({out.empty() ? at.latency : std::chrono::nanoseconds{},
                   head(f) + payload(which, "", "", "") + tail(which, a, f, c) + "\n"});
    return out;
}

std::string ollama_vectors(bool many, const asked& a, const native_facts& f) {
    const std::vector<std::string> vectors = vector_texts(a);
    if (!many) return R"({"embedding":)" + vectors.front() + "}";
    std::string list;
    for (const std::string& vector : vectors) list += (list.empty() ? "" : ",") + vector;
    return R"({"model":)" + quoted(f.model) + R"(,"embeddings":[)" + list + R"(],"total_duration":)" +
           std::to_string(1000000 + f.noise % 1000000) + R"(,"load_duration":500,"prompt_eval_count":)" +
           std::to_string(a.prompt_tokens) + "}";
}

}  // namespace idem::upstream::simulate
