// Answers of llama.cpp, SGLang and TGI, and of the calls that several engines share.
#include <algorithm>
#include <utility>

#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/render_native.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;

std::string event(std::string_view data) {
    return "data: " + std::string(data) + "\n\n";
}

std::string number(std::uint64_t n) {
    return std::to_string(n);
}

std::size_t longest(const std::vector<choice_text>& choices) {
    std::size_t n = 0;
    for (const choice_text& c : choices) n = std::max(n, c.tokens.size());
    return n;
}

// llama.cpp's last word on a result, in either form.
std::string llamacpp_end(const asked& a, const native_facts& f, const choice_text& c, std::size_t index, bool stream) {
    const bool with_ids = !stream && find_member(f.body, "return_tokens") == "true";
    std::string out = R"({"index":)" + number(index) + R"(,"content":)";
    out += stream ? R"("")" : quoted(text_of(c, c.tokens.size()));
    out += R"(,"tokens":[)" + (with_ids ? token_ids(c, 0, c.tokens.size()) : "") + R"(],"id_slot":0,"stop":true)";
    out += R"(,"model":)" + quoted(f.model) + R"(,"tokens_predicted":)" + number(c.tokens.size());
    out += R"(,"tokens_evaluated":)" + number(a.prompt_tokens);
    out += R"(,"generation_settings":{"temperature":)" + std::string(a.sampled ? "1.0" : "0.0");
    out += R"(,"stream":)" + std::string(stream ? "true" : "false") + R"(},"truncated":false,"stop_type":)";
    out += c.finish == "length" ? R"("limit")" : c.stop.empty() ? R"("eos")" : R"("word")";
    out += R"(,"stopping_word":)" + quoted(c.stop) + R"(,"timings":{"prompt_ms":)" + number(f.noise % 1000);
    return out + R"(.5}})";
}

std::string sglang_result(const asked& a, const native_facts& f, const choice_text& c, std::size_t end,
                          std::string_view index) {
    std::string out = "{";
    add_member(out, "index", index);
    add_member(out, "text", quoted(text_of(c, end)));
    add_member(out, "output_ids", "[" + token_ids(c, 0, end) + "]");
    std::string finish = "null";
    if (end == c.tokens.size()) {
        finish = c.finish == "length"
                     ? R"({"type":"length","length":)" + number(end) + "}"
                     : R"({"type":"stop","matched":)" + (c.stop.empty() ? std::string("2") : quoted(c.stop)) + "}";
    }
    std::string meta = "{";
    add_member(meta, "id", quoted(f.id));
    add_member(meta, "finish_reason", finish);
    add_member(meta, "prompt_tokens", number(a.prompt_tokens));
    add_member(meta, "completion_tokens", number(end));
    add_member(meta, "cached_tokens", "0");
    add_member(meta, "e2e_latency", "0." + number(100 + f.noise % 900));
    if (!f.weight_version.empty()) add_member(meta, "weight_version", quoted(f.weight_version));
    add_member(out, "meta_info", meta + "}");
    return out + "}";
}

// Several results, or a list of one prompt, are a list.
bool listed(const asked& a, const native_facts& f) {
    const std::string_view text = find_member(f.body, "text");
    return a.inputs.size() * a.n > 1 || kind_of(text) == json_kind::array;
}

struct tgi_token {
    std::string text;
    std::string json;
};

std::vector<tgi_token> tgi_tokens(const choice_text& c) {
    std::vector<tgi_token> out;
    for (std::size_t i = 0; i < c.tokens.size(); ++i) {
        out.push_back({c.tokens[i], R"({"id":)" + token_ids(c, i, i + 1) + R"(,"text":)" + quoted(c.tokens[i]) +
                                        R"(,"logprob":-0.)" + number(1 + mix(c.state + i) % 9) +
                                        R"(,"special":false})"});
    }
    if (c.finish != "length") out.push_back({"", R"({"id":2,"text":"</s>","logprob":-0.5,"special":true})"});
    return out;
}

std::string tgi_details(const asked& a, const choice_text& c, std::size_t tokens, std::string_view rest) {
    const std::string why = c.finish == "length" ? "length" : c.stop.empty() ? "eos_token" : "stop_sequence";
    return R"({"finish_reason":)" + quoted(why) + R"(,"generated_tokens":)" + number(tokens) + R"(,"seed":)" +
           (a.sampled ? number(c.state) : "null") + std::string(rest) + "}";
}

bool wants_details(const native_facts& f) {
    return find_member(find_member(f.body, "parameters"), "details") == "true";
}

}  // namespace

std::string text_of(const choice_text& c, std::size_t end) {
    std::string out;
    for (std::size_t i = 0; i < end; ++i) out += c.tokens[i];
    return out;
}

std::string token_ids(const choice_text& c, std::size_t from, std::size_t to) {
    std::string out;
    for (std::size_t i = from; i < to; ++i) out += (i > from ? "," : "") + number(meaning(quoted(c.tokens[i])) % 32000);
    return out;
}

std::string llamacpp_object(const asked& a, const native_facts& f, const std::vector<choice_text>& choices) {
    if (choices.size() == 1) return llamacpp_end(a, f, choices.front(), 0, false);
    std::string out = "[";
    for (std::size_t k = 0; k < choices.size(); ++k) {
        if (k > 0) out += ',';
        out += llamacpp_end(a, f, choices[k], k, false);
    }
    return out + "]";
}

std::vector<piece> llamacpp_stream(const asked& a, const native_facts& f, const std::vector<choice_text>& choices,
                                   pace at) {
    std::vector<piece> out;
    for (std::size_t i = 0; i < longest(choices); ++i) {
        for (std::size_t k = 0; k < choices.size(); ++k) {
            if (i >= choices[k].tokens.size()) continue;
            const auto wait = out.empty() ? at.latency : k == 0 ? at.step : std::chrono::nanoseconds{};
            out.push_back({wait, event(R"({"index":)" + number(k) + R"(,"content":)" + quoted(choices[k].tokens[i]) +
                                       R"(,"tokens":[)" + token_ids(choices[k], i, i + 1) +
                                       R"(],"stop":false,"id_slot":-1,"tokens_predicted":)" + number(i + 1) +
                                       R"(,"tokens_evaluated":)" + number(a.prompt_tokens) + "}")});
        }
    }
    for (std::size_t k = 0; k < choices.size(); ++k) {
        out.push_back(
            {out.empty() ? at.latency : std::chrono::nanoseconds{}, event(llamacpp_end(a, f, choices[k], k, true))});
    }
    return out;
}

std::string llamacpp_vectors(const asked& a) {
    std::string out = "[";
    const std::vector<std::string> vectors = vector_texts(a);
    for (std::size_t i = 0; i < vectors.size(); ++i) {
        out.append(i > 0 ? ",{" : "{")
            .append(R"("index":)")
            .append(number(i))
            .append(R"(,"embedding":[)")
            .append(vectors[i] + "]}");
    }
    return out + "]";
}

std::string rerank_object(const asked& a, const native_facts& f) {
    struct scored {
        std::uint64_t score;
        std::size_t index;
    };
    std::vector<scored> order;
    const std::uint64_t query = meaning(find_member(f.body, "query"));
    for (std::size_t i = 0; i < a.inputs.size(); ++i) order.push_back({mix(query ^ meaning(a.inputs[i])) % 1000, i});
    std::ranges::sort(order, [](const scored& x, const scored& y) {
        return x.score != y.score ? x.score > y.score : x.index < y.index;
    });
    const auto top = number_value(find_member(f.body, "top_n"));
    if (top && *top >= 1 && *top < static_cast<double>(order.size())) order.resize(static_cast<std::size_t>(*top));
    std::string out = R"({"model":)" + quoted(f.model) + R"(,"object":"list","usage":{"prompt_tokens":)" +
                      number(a.prompt_tokens) + R"(,"total_tokens":)" + number(a.prompt_tokens) + R"(},"results":[)";
    for (const scored& each : order) {
        if (&each != order.data()) out += ',';
        out += R"({"index":)" + number(each.index) + R"(,"relevance_score":)" + number(each.score) + ".5}";
    }
    return out + "]}";
}

std::string tokens_object(const asked& a) {
    std::string out = R"({"tokens":[)";
    bool first = true;
    for (const std::string_view input : a.inputs) {
        for (const std::string& slice : slices(string_text(input).value_or(std::string(input)))) {
            if (!std::exchange(first, false)) out += ',';
            out += number(meaning(quoted(slice)) % 32000);
        }
    }
    return out + "]}";
}

std::string template_object(const asked& a) {
    std::string text;
    for (const std::string_view message : a.inputs)
        text += "<" + string_text(find_member(message, "role")).value_or("") + ">" +
                string_text(find_member(message, "content")).value_or("");
    return R"({"prompt":)" + quoted(text + "<assistant>") + "}";
}

std::string sglang_object(const asked& a, const native_facts& f, const std::vector<choice_text>& choices) {
    if (!listed(a, f)) return sglang_result(a, f, choices.front(), choices.front().tokens.size(), {});
    std::string out = "[";
    for (const choice_text& c : choices) {
        if (out.size() > 1) out += ',';
        out += sglang_result(a, f, c, c.tokens.size(), {});
    }
    return out + "]";
}

std::vector<piece> sglang_stream(const asked& a, const native_facts& f, const std::vector<choice_text>& choices,
                                 pace at) {
    std::vector<piece> out;
    const bool list = listed(a, f);
    for (std::size_t i = 1; i <= std::max<std::size_t>(longest(choices), 1); ++i) {
        for (std::size_t k = 0; k < choices.size(); ++k) {
            if (i > std::max<std::size_t>(choices[k].tokens.size(), 1)) continue;
            const auto wait = out.empty() ? at.latency : k == 0 ? at.step : std::chrono::nanoseconds{};
            out.push_back({wait, event(sglang_result(a, f, choices[k], std::min(i, choices[k].tokens.size()),
                                                     list ? number(k) : std::string()))});
        }
    }
    out.push_back({{}, "data: [DONE]\n\n"});
    return out;
}

std::string tgi_object(const asked& a, const native_facts& f, const choice_text& c) {
    std::string out = R"({"generated_text":)" + quoted(text_of(c, c.tokens.size()));
    if (!wants_details(f)) return out + "}";
    const std::vector<tgi_token> tokens = tgi_tokens(c);
    std::string list;
    for (const tgi_token& token : tokens) list += (list.empty() ? "" : ",") + token.json;
    return out + R"(,"details":)" + tgi_details(a, c, tokens.size(), R"(,"prefill":[],"tokens":[)" + list + "]") + "}";
}

std::vector<piece> tgi_stream(const asked& a, const native_facts& f, const choice_text& c, pace at) {
    std::vector<piece> out;
    const std::vector<tgi_token> tokens = tgi_tokens(c);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::string data = R"(data:{"index":)" + number(i + 1) + R"(,"token":)" + tokens[i].json;
        if (i + 1 < tokens.size()) {
            data += R"(,"generated_text":null,"details":null})";
        } else {
            data += R"(,"generated_text":)" + quoted(text_of(c, c.tokens.size())) + R"(,"details":)";
            data += wants_details(f) ? tgi_details(a, c, tokens.size(), R"(,"input_length":)" + number(a.prompt_tokens))
                                     : "null";
            data += '}';
        }
        out.push_back({out.empty() ? at.latency : at.step, data + "\n\n"});
    }
    return out;
}

}  // namespace idem::upstream::simulate
