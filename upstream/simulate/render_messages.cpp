// Anthropic's messages.
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/render_parts.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

// Who made it cannot be checked, but it is always the same for the same thoughts.
std::string signature(const choice_text& c) {
    return quoted("c2ln" + std::to_string(mix(c.state) % 1000000000U));
}

std::string_view stop_reason(const choice_text& c) noexcept {
    if (c.tool_call) return R"("tool_use")";
    if (c.finish == "length") return R"("max_tokens")";
    return c.stop.empty() ? R"("end_turn")" : R"("stop_sequence")";
}

std::string stop_sequence(const choice_text& c) {
    return c.stop.empty() ? "null" : quoted(c.stop);
}

std::string usage(const asked& a, std::size_t output) {
    return R"({"input_tokens":)" + std::to_string(a.prompt_tokens) +
           R"(,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":)" + std::to_string(output) +
           R"(,"service_tier":"standard"})";
}

std::string message(const asked& a, const answer_facts& f, std::string_view content, std::string_view reason,
                    std::string_view sequence, std::size_t output) {
    std::string out = R"({"id":)" + quoted(f.id) + R"(,"type":"message","role":"assistant","model":)" + quoted(f.model);
    out.append(R"(,"content":)").append(content).append(R"(,"stop_reason":)").append(reason);
    out.append(R"(,"stop_sequence":)").append(sequence).append(R"(,"usage":)").append(usage(a, output));
    return out + "}";
}

std::string tool_block(const choice_text& c, std::string_view input) {
    std::string out = R"({"type":"tool_use","id":"toolu_)" + std::to_string(mix(c.state) % 100000000U) + R"(","name":)";
    return out.append(c.tool_name).append(R"(,"input":)").append(input) + "}";
}

class event_writer {
public:
    void wait(std::chrono::nanoseconds pause) { pause_ = pause; }
    void event(std::string_view type, std::string_view rest = "") {
        std::string bytes = "event: ";
        bytes.append(type).append("\ndata: {\"type\":\"").append(type).append("\"").append(rest).append("}\n\n");
        pieces_.push_back({pause_, std::move(bytes)});
        pause_ = {};
    }
    // A block whose text comes token by token.
    void block(std::string_view opening, std::string_view kind, std::string_view member,
               const std::vector<std::string>& tokens, std::chrono::nanoseconds step) {
        begin(opening);
        for (const std::string& token : tokens) {
            wait(step);
            delta(kind, member, quoted(token));
        }
    }
    void begin(std::string_view opening) {
        event("content_block_start", at() + R"(,"content_block":)" + std::string(opening));
    }
    void delta(std::string_view kind, std::string_view member, std::string_view token) {
        std::string rest = at() + R"(,"delta":{"type":")";
        rest.append(kind).append(R"(",")").append(member).append("\":").append(token).append("}");
        event("content_block_delta", rest);
    }
    void end() {
        event("content_block_stop", at());
        ++index_;
    }
    [[nodiscard]] std::vector<piece> take() { return std::move(pieces_); }

private:
    [[nodiscard]] std::string at() const { return R"(,"index":)" + std::to_string(index_); }
    std::vector<piece> pieces_;
    std::chrono::nanoseconds pause_{0};
    unsigned index_ = 0;
};

}  // namespace

std::string message_object(const asked& a, const answer_facts& f, const choice_text& c) {
    std::string content = "[";
    const std::vector<std::string> thinking = thoughts(a, c);
    if (!thinking.empty()) {
        content +=
            R"({"type":"thinking","thinking":)" + quoted(joined(thinking)) + R"(,"signature":)" + signature(c) + "},";
    }
    content +=
        c.tool_call ? tool_block(c, joined(c.tokens)) : R"({"type":"text","text":)" + quoted(joined(c.tokens)) + "}";
    return message(a, f, content + "]", stop_reason(c), stop_sequence(c), thinking.size() + c.tokens.size());
}

std::vector<piece> message_stream(const asked& a, const answer_facts& f, const choice_text& c,
                                  std::chrono::nanoseconds latency, std::chrono::nanoseconds step) {
    event_writer events;
    events.wait(latency);
    events.event("message_start", R"(,"message":)" + message(a, f, "[]", "null", "null", 1));
    events.event("ping");
    const std::vector<std::string> thinking = thoughts(a, c);
    if (!thinking.empty()) {
        events.block(R"({"type":"thinking","thinking":"","signature":""})", "thinking_delta", "thinking", thinking,
                     step);
        events.delta("signature_delta", "signature", signature(c));
        events.end();
    }
    if (c.tool_call) {
        events.block(tool_block(c, "{}"), "input_json_delta", "partial_json", c.tokens, step);
    } else {
        events.block(R"({"type":"text","text":""})", "text_delta", "text", c.tokens, step);
    }
    events.end();
    std::string end =
        R"(,"delta":{"stop_reason":)" + std::string(stop_reason(c)) + R"(,"stop_sequence":)" + stop_sequence(c);
    end += R"(},"usage":{"output_tokens":)" + std::to_string(thinking.size() + c.tokens.size()) + "}";
    events.event("message_delta", end);
    events.event("message_stop");
    return events.take();
}

}  // namespace idem::upstream::simulate
