#include "upstream/simulate/render.hpp"

#include <algorithm>
#include <charconv>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/render_native.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using dialect::append_json_string;

void append_number(std::string& out, double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
}

void append_head(std::string& out, const answer_facts& f, std::string_view object) {
    out += R"({"id":)";
    append_json_string(out, f.id);
    out += R"(,"object":")";
    out += object;
    out += R"(","created":)";
    out += std::to_string(f.created);
    out += R"(,"model":)";
    append_json_string(out, f.model);
}

void append_fingerprint(std::string& out, const answer_facts& f) {
    if (f.fingerprint.empty()) return;
    out += R"(,"system_fingerprint":)";
    append_json_string(out, f.fingerprint);
}

void append_metadata(std::string& out, const answer_facts& f) {
    if (f.weight_version.empty()) return;
    out += R"(,"metadata":{"weight_version":)";
    append_json_string(out, f.weight_version);
    out += '}';
}

void append_usage(std::string& out, const asked& a, const std::vector<choice_text>& choices) {
    std::size_t completion = 0;
    for (const choice_text& c : choices) completion += c.tokens.size();
    out += R"("usage":{"prompt_tokens":)" + std::to_string(a.prompt_tokens);
    out += R"(,"completion_tokens":)" + std::to_string(completion);
    out += R"(,"total_tokens":)" + std::to_string(a.prompt_tokens + completion) + "}";
}

double logprob(std::uint64_t state, std::size_t position, unsigned rank) noexcept {
    const auto noise = static_cast<double>(mix(state ^ mix(position)) % 1000) / 1000.0;
    return -0.001 - noise * 0.5 - static_cast<double>(rank);
}

void append_token_facts(std::string& out, std::string_view token, double value) {
    out += R"({"token":)";
    append_json_string(out, token);
    out += R"(,"logprob":)";
    append_number(out, value);
    out += R"(,"bytes":[)";
    for (std::size_t i = 0; i < token.size(); ++i) {
        if (i > 0) out += ',';
        out += std::to_string(static_cast<unsigned char>(token[i]));
    }
    out += ']';
}

std::string alternative(std::uint64_t state, std::size_t position, unsigned rank, std::string_view token) {
    return rank == 0 ? std::string(token) : words(mix(state + position) + rank, 1).front();
}

// {"content":[…],"refusal":null} for tokens [from, to).
void append_chat_logprobs(std::string& out, const asked& a, const choice_text& c, std::size_t from, std::size_t to) {
    if (!a.logprobs || c.tool_call) {
        out += "null";
        return;
    }
    out += R"({"content":[)";
    for (std::size_t i = from; i < to; ++i) {
        if (i > from) out += ',';
        append_token_facts(out, c.tokens[i], logprob(c.state, i, 0));
        out += R"(,"top_logprobs":[)";
        for (unsigned rank = 0; rank < *a.logprobs; ++rank) {
            if (rank > 0) out += ',';
            append_token_facts(out, alternative(c.state, i, rank, c.tokens[i]), logprob(c.state, i, rank));
            out += '}';
        }
        out += "]}";
    }
    out += R"(],"refusal":null})";
}

void append_completion_logprobs(std::string& out, const asked& a, const choice_text& c, std::size_t from,
                                std::size_t to) {
    if (!a.logprobs) {
        out += "null";
        return;
    }
    std::string names = R"({"tokens":[)";
    std::string values = R"(],"token_logprobs":[)";
    std::string tops = R"(],"top_logprobs":[)";
    std::string offsets = R"(],"text_offset":[)";
    std::size_t offset = 0;
    for (std::size_t i = 0; i < from; ++i) offset += c.tokens[i].size();
    for (std::size_t i = from; i < to; ++i) {
        if (i > from) {
            for (std::string* list : {&names, &values, &tops, &offsets}) *list += ',';
        }
        append_json_string(names, c.tokens[i]);
        append_number(values, logprob(c.state, i, 0));
        tops += '{';
        append_json_string(tops, c.tokens[i]);
        tops += ':';
        append_number(tops, logprob(c.state, i, 0));
        tops += '}';
        offsets += std::to_string(offset);
        offset += c.tokens[i].size();
    }
    out += names + values + tops + offsets + "]}";
}

std::string joined(const choice_text& c) {
    std::string text;
    for (const std::string& token : c.tokens) text += token;
    return text;
}

std::string call_id(const choice_text& c) {
    return "call_" + std::to_string(mix(c.state) % 100000000U);
}

void append_message(std::string& out, const choice_text& c) {
    if (!c.tool_call) {
        out += R"({"role":"assistant","content":)";
        append_json_string(out, joined(c));
        out += R"(,"refusal":null})";
        return;
    }
    out += R"({"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":")" + call_id(c);
    out += R"(","type":"function","function":{"name":)";
    out += c.tool_name;
    out += R"(,"arguments":)";
    append_json_string(out, joined(c));
    out += "}}]}";
}

void append_token_ids(std::string& out, const asked& a, const choice_text& c, std::size_t from, std::size_t to) {
    if (a.token_ids) out += R"(,"token_ids":[)" + token_ids(c, from, to) + "]";
}

void append_finish(std::string& out, std::string_view finish) {
    out += R"(,"finish_reason":)";
    if (finish.empty()) {
        out += "null}";
    } else {
        append_json_string(out, finish);
        out += '}';
    }
}

// Builds one event after the other around a head that never changes.
class event_writer {
public:
    event_writer(const asked& a, const answer_facts& f, std::string_view object)
        : tail_(a.include_usage ? "],\"usage\":null}\n\n" : "]}\n\n") {
        head_ = "data: ";
        append_head(head_, f, object);
        last_head_ = head_;
        if (!f.fingerprint_last) append_fingerprint(head_, f);
        append_fingerprint(last_head_, f);
        head_ += R"(,"choices":[)";
        last_head_ += R"(,"choices":[)";
    }
    void wait(std::chrono::nanoseconds pause) { pause_ = pause; }
    void choice(std::string_view text) {
        std::string bytes;
        bytes.reserve(head_.size() + text.size() + tail_.size());
        bytes.append(head_).append(text).append(tail_);
        push(std::move(bytes));
    }
    /// The last event but for the one of the usage, if that was asked for.
    void final_choice(std::string_view text, const asked& a) {
        const std::string& head = a.include_usage ? head_ : last_head_;
        push(head + std::string(text) + std::string(tail_));
    }
    void last_choice(std::string_view text, const asked& a, const std::vector<choice_text>& choices) {
        std::string bytes = last_head_ + std::string(text) + "],";
        append_usage(bytes, a, choices);
        push(bytes + "}\n\n");
    }
    [[nodiscard]] std::vector<piece> end(const asked& a, const std::vector<choice_text>& choices) {
        if (a.include_usage) {
            std::string bytes = last_head_ + "],";
            append_usage(bytes, a, choices);
            push(bytes + "}\n\n");
        }
        push("data: [DONE]\n\n");
        return std::move(pieces_);
    }

private:
    void push(std::string bytes) {
        pieces_.push_back({pause_, std::move(bytes)});
        pause_ = {};
    }
    std::string head_;
    std::string last_head_;
    std::string_view tail_;
    std::vector<piece> pieces_;
    std::chrono::nanoseconds pause_{0};
};

std::string delta(std::size_t index, std::string_view body, std::string_view logprobs, std::string_view finish) {
    std::string out = R"({"index":)" + std::to_string(index) + R"(,"delta":)";
    out.append(body).append(R"(,"logprobs":)").append(logprobs);
    append_finish(out, finish);
    return out;
}

std::string opening(const choice_text& c) {
    if (!c.tool_call) return R"({"role":"assistant","content":"","refusal":null})";
    std::string out = R"({"role":"assistant","content":null,"refusal":null,"tool_calls":[{"index":0,"id":")";
    out += call_id(c) + R"(","type":"function","function":{"name":)";
    out.append(c.tool_name).append(R"(,"arguments":""}}]})");
    return out;
}

std::string token_delta(const choice_text& c, std::size_t i) {
    std::string out = c.tool_call ? R"({"tool_calls":[{"index":0,"function":{"arguments":)" : R"({"content":)";
    append_json_string(out, c.tokens[i]);
    out += c.tool_call ? "}}]}" : "}";
    return out;
}

std::size_t longest(const std::vector<choice_text>& choices) {
    std::size_t n = 0;
    for (const choice_text& c : choices) n = std::max(n, c.tokens.size());
    return n;
}

}  // namespace

std::string chat_object(const asked& a, const answer_facts& f, const std::vector<choice_text>& choices) {
    std::string out;
    append_head(out, f, "chat.completion");
    append_fingerprint(out, f);
    out += R"(,"choices":[)";
    for (std::size_t k = 0; k < choices.size(); ++k) {
        const choice_text& c = choices[k];
        if (k > 0) out += ',';
        out += R"({"index":)" + std::to_string(k) + R"(,"message":)";
        append_message(out, c);
        out += R"(,"logprobs":)";
        append_chat_logprobs(out, a, c, 0, c.tokens.size());
        append_token_ids(out, a, c, 0, c.tokens.size());
        append_finish(out, c.finish);
    }
    out += "],";
    append_usage(out, a, choices);
    append_metadata(out, f);
    return out + "}";
}

std::vector<piece> chat_stream(const asked& a, const answer_facts& f, const std::vector<choice_text>& choices,
                               std::chrono::nanoseconds latency, std::chrono::nanoseconds step) {
    event_writer events(a, f, "chat.completion.chunk");
    events.wait(latency);
    for (std::size_t k = 0; k < choices.size(); ++k) events.choice(delta(k, opening(choices[k]), "null", {}));
    for (std::size_t i = 0; i < longest(choices); ++i) {
        events.wait(step);
        for (std::size_t k = 0; k < choices.size(); ++k) {
            if (i >= choices[k].tokens.size()) continue;
            std::string logprobs;
            append_chat_logprobs(logprobs, a, choices[k], i, i + 1);
            append_token_ids(logprobs, a, choices[k], i, i + 1);
            events.choice(delta(k, token_delta(choices[k], i), logprobs, {}));
        }
    }
    for (std::size_t k = 0; k < choices.size(); ++k) {
        const std::string text = delta(k, "{}", "null", choices[k].finish);
        if (k + 1 < choices.size()) {
            events.choice(text);
        } else if (a.usage_at_end) {
            events.last_choice(text, a, choices);
        } else {
            events.final_choice(text, a);
        }
    }
    return events.end(a, choices);
}

std::string completion_object(const asked& a, const answer_facts& f, const std::vector<choice_text>& choices) {
    std::string out;
    append_head(out, f, "text_completion");
    append_fingerprint(out, f);
    out += R"(,"choices":[)";
    for (std::size_t k = 0; k < choices.size(); ++k) {
        const choice_text& c = choices[k];
        out += k > 0 ? R"(,{"text":)" : R"({"text":)";
        append_json_string(out, joined(c));
        out += R"(,"index":)" + std::to_string(k) + R"(,"logprobs":)";
        append_completion_logprobs(out, a, c, 0, c.tokens.size());
        append_token_ids(out, a, c, 0, c.tokens.size());
        append_finish(out, c.finish);
    }
    out += "],";
    append_usage(out, a, choices);
    append_metadata(out, f);
    return out + "}";
}

std::vector<piece> completion_stream(const asked& a, const answer_facts& f, const std::vector<choice_text>& choices,
                                     std::chrono::nanoseconds latency, std::chrono::nanoseconds step) {
    event_writer events(a, f, "text_completion");
    const auto text = [](std::size_t k, std::string_view token, std::string_view logprobs, std::string_view finish) {
        std::string out = R"({"text":)";
        append_json_string(out, token);
        out += R"(,"index":)" + std::to_string(k) + R"(,"logprobs":)";
        out += logprobs;
        append_finish(out, finish);
        return out;
    };
    events.wait(latency);
    for (std::size_t i = 0; i < longest(choices); ++i) {
        if (i > 0) events.wait(step);
        for (std::size_t k = 0; k < choices.size(); ++k) {
            if (i >= choices[k].tokens.size()) continue;
            std::string logprobs;
            append_completion_logprobs(logprobs, a, choices[k], i, i + 1);
            append_token_ids(logprobs, a, choices[k], i, i + 1);
            events.choice(text(k, choices[k].tokens[i], logprobs, {}));
        }
    }
    for (std::size_t k = 0; k < choices.size(); ++k) {
        const std::string end = text(k, "", "null", choices[k].finish);
        if (k + 1 < choices.size()) {
            events.choice(end);
        } else {
            events.final_choice(end, a);
        }
    }
    return events.end(a, choices);
}

}  // namespace idem::upstream::simulate
