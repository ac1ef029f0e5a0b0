// Gemini's generateContent.
#include <algorithm>

#include "upstream/simulate/render.hpp"
#include "upstream/simulate/render_parts.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

std::string text_part(std::string_view text) {
    return R"({"text":)" + quoted(text) + "}";
}

std::string thought_part(std::string_view text) {
    return R"({"text":)" + quoted(text) + R"(,"thought":true})";
}

std::string call_part(const choice_text& c) {
    return R"({"functionCall":{"name":)" + std::string(c.tool_name) + R"(,"args":)" + joined(c.tokens) + "}}";
}

std::string candidate(std::size_t index, std::string_view parts, std::string_view finish) {
    std::string out = R"({"content":{"parts":[)" + std::string(parts) + R"(],"role":"model"},)";
    if (!finish.empty()) out.append(R"("finishReason":")").append(finish).append("\",");
    return out + R"("index":)" + std::to_string(index) + "}";
}

std::string_view finish_of(const choice_text& c) noexcept {
    return c.finish == "length" ? "MAX_TOKENS" : "STOP";
}

std::string answer_with(const asked& a, const answer_facts& f, std::string_view candidates, std::size_t thought,
                        std::size_t output) {
    std::string out = R"({"candidates":[)" + std::string(candidates);
    out += R"(],"usageMetadata":{"promptTokenCount":)" + std::to_string(a.prompt_tokens);
    out += R"(,"candidatesTokenCount":)" + std::to_string(output);
    if (thought > 0) out += R"(,"thoughtsTokenCount":)" + std::to_string(thought);
    out += R"(,"totalTokenCount":)" + std::to_string(a.prompt_tokens + thought + output);
    out += R"(,"promptTokensDetails":[{"modality":"TEXT","tokenCount":)" + std::to_string(a.prompt_tokens);
    return out + R"(}]},"modelVersion":)" + quoted(f.model) + R"(,"responseId":)" + quoted(f.id) + "}";
}

// What one candidate sends bit by bit: its thoughts, then its text, or one call.
std::vector<std::string> parts_of(const asked& a, const choice_text& c) {
    std::vector<std::string> out;
    for (const std::string& token : thoughts(a, c)) out.push_back(thought_part(token));
    if (c.tool_call) {
        out.push_back(call_part(c));
    } else {
        for (const std::string& token : c.tokens) out.push_back(text_part(token));
    }
    if (out.empty()) out.push_back(text_part(""));
    return out;
}

struct counted_tokens {
    std::size_t thought = 0;
    std::size_t output = 0;
};

counted_tokens count_tokens(const asked& a, const std::vector<choice_text>& choices) {
    counted_tokens n;
    for (const choice_text& c : choices) {
        n.thought += thoughts(a, c).size();
        n.output += c.tokens.size();
    }
    return n;
}

}  // namespace

std::string gemini_object(const asked& a, const answer_facts& f, const std::vector<choice_text>& choices) {
    std::string candidates;
    for (std::size_t k = 0; k < choices.size(); ++k) {
        const choice_text& c = choices[k];
        const std::vector<std::string> thinking = thoughts(a, c);
        std::string parts = thinking.empty() ? "" : thought_part(joined(thinking)) + ",";
        parts += c.tool_call ? call_part(c) : text_part(joined(c.tokens));
        if (k > 0) candidates += ',';
        candidates += candidate(k, parts, finish_of(c));
    }
    const counted_tokens n = count_tokens(a, choices);
    return answer_with(a, f, candidates, n.thought, n.output);
}

std::vector<piece> gemini_stream(const asked& a, const answer_facts& f, const std::vector<choice_text>& choices,
                                 bool events, std::chrono::nanoseconds latency, std::chrono::nanoseconds step) {
    std::vector<std::vector<std::string>> parts;
    std::size_t longest = 0;
    for (const choice_text& c : choices) {
        parts.push_back(parts_of(a, c));
        longest = std::max(longest, parts.back().size());
    }
    const counted_tokens n = count_tokens(a, choices);
    std::vector<piece> out;
    for (std::size_t i = 0; i < longest; ++i) {
        std::string candidates;
        for (std::size_t k = 0; k < choices.size(); ++k) {
            if (i >= parts[k].size()) continue;
            if (!candidates.empty()) candidates += ',';
            candidates += candidate(k, parts[k][i], i + 1 == parts[k].size() ? finish_of(choices[k]) : "");
        }
        const bool last = i + 1 == longest;
        std::string bytes = answer_with(a, f, candidates, n.thought, last ? n.output : std::min(i, n.output));
        if (events) {
            bytes = "data: " + bytes + "\r\n\r\n";
        } else {
            bytes = (i == 0 ? "[" : ",\r\n") + bytes + (last ? "]\r\n" : "");
        }
        out.push_back({i == 0 ? latency : step, std::move(bytes)});
    }
    return out;
}

std::string gemini_count(const asked& a) {
    return R"({"totalTokens":)" + std::to_string(a.prompt_tokens) +
           R"(,"promptTokensDetails":[{"modality":"TEXT","tokenCount":)" + std::to_string(a.prompt_tokens) + "}]}";
}

std::string gemini_embeddings(const asked& a, bool many) {
    std::string out = many ? R"({"embeddings":[)" : R"({"embedding":)";
    for (const std::string& vector : vector_texts(a)) {
        if (out.back() == '}') out += ',';
        out += R"({"values":)" + vector + "}";
    }
    return out + (many ? "]}" : "}");
}

}  // namespace idem::upstream::simulate
