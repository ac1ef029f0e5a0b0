// OpenAI's responses.
#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/render_parts.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

// Always the same for the same content, so that nothing but the answer's own id differs between two answers.
std::string id_of(std::string_view prefix, const choice_text& c) {
    return quoted(std::string(prefix) + std::to_string(mix(c.state) % 100000000U));
}

std::string reasoning_item(const choice_text& c, std::string_view summary) {
    return R"({"id":)" + id_of("rs_", c) + R"(,"type":"reasoning","summary":)" + std::string(summary) + "}";
}

std::string summary_part(std::string_view text) {
    return R"({"type":"summary_text","text":)" + quoted(text) + "}";
}

std::string text_part(std::string_view text) {
    return R"({"type":"output_text","annotations":[],"logprobs":[],"text":)" + quoted(text) + "}";
}

std::string_view item_status(const choice_text& c) noexcept {
    return c.finish == "length" ? R"("incomplete")" : R"("completed")";
}

std::string message_item(const choice_text& c, std::string_view status, std::string_view content) {
    std::string out = R"({"id":)" + id_of("msg_", c) + R"(,"type":"message","status":)" + std::string(status);
    return out.append(R"(,"content":)").append(content) + R"(,"role":"assistant"})";
}

std::string call_item(const asked& a, const choice_text& c, std::string_view status, std::string_view text) {
    const std::string id = id_of(a.custom_tool ? "ctc_" : "fc_", c);
    std::string out = R"({"id":)" + id + R"(,"type":)";
    out += a.custom_tool ? R"("custom_tool_call","status":)" : R"("function_call","status":)";
    out.append(status).append(a.custom_tool ? R"(,"input":)" : R"(,"arguments":)").append(quoted(text));
    out += R"(,"call_id":)" + id_of("call_", c) + R"(,"name":)";
    return out.append(c.tool_name) + "}";
}

std::string usage(const asked& a, std::size_t thought, std::size_t output) {
    std::string out = R"({"input_tokens":)" + std::to_string(a.prompt_tokens);
    out += R"(,"input_tokens_details":{"cached_tokens":0},"output_tokens":)" + std::to_string(output);
    out += R"(,"output_tokens_details":{"reasoning_tokens":)" + std::to_string(thought);
    return out + R"(},"total_tokens":)" + std::to_string(a.prompt_tokens + output) + "}";
}

std::string response(const answer_facts& f, std::string_view status, std::string_view incomplete,
                     std::string_view output, std::string_view counts) {
    std::string out = R"({"id":)" + quoted(f.id) + R"(,"object":"response","created_at":)" + std::to_string(f.created);
    out.append(R"(,"status":)").append(status).append(R"(,"background":false,"error":null,"incomplete_details":)");
    out.append(incomplete).append(R"(,"instructions":null,"max_output_tokens":null,"model":)").append(quoted(f.model));
    out.append(R"(,"output":)").append(output);
    out += R"(,"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},)"
           R"("store":true,"temperature":1.0,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],)"
           R"("top_p":1.0,"truncation":"disabled","usage":)";
    return out.append(counts) + R"(,"user":null,"metadata":{}})";
}

std::string whole(const asked& a, const answer_facts& f, const choice_text& c) {
    const std::vector<std::string> thinking = thoughts(a, c);
    std::string output = "[";
    if (!thinking.empty()) output += reasoning_item(c, "[" + summary_part(joined(thinking)) + "]") + ",";
    output += c.tool_call ? call_item(a, c, item_status(c), joined(c.tokens))
                          : message_item(c, item_status(c), "[" + text_part(joined(c.tokens)) + "]");
    const bool cut = c.finish == "length";
    return response(f, item_status(c), cut ? R"({"reason":"max_output_tokens"})" : "null", output + "]",
                    usage(a, thinking.size(), thinking.size() + c.tokens.size()));
}

class event_writer {
public:
    void wait(std::chrono::nanoseconds pause) { pause_ = pause; }
    void event(std::string_view type, std::string_view rest) {
        std::string bytes = "event: ";
        bytes.append(type).append("\ndata: {\"type\":\"").append(type).append("\",\"sequence_number\":");
        bytes.append(std::to_string(number_++)).append(rest).append("}\n\n");
        pieces_.push_back({pause_, std::move(bytes)});
        pause_ = {};
    }
    void begin_item(std::string_view id, std::string_view item) {
        at_ = R"(,"item_id":)" + std::string(id) + R"(,"output_index":)" + std::to_string(index_);
        event("response.output_item.added", item_at(item));
    }
    void end_item(std::string_view item) {
        event("response.output_item.done", item_at(item));
        ++index_;
    }
    // `rest` begins with a comma.
    void inside(std::string_view type, std::string_view rest) { event(type, at_ + std::string(rest)); }
    // One text token by token, then whole.
    void text(std::string_view name, std::string_view part, std::string_view member,
              const std::vector<std::string>& tokens, std::string_view more, std::chrono::nanoseconds step) {
        for (const std::string& token : tokens) {
            wait(step);
            inside(std::string(name) + ".delta",
                   std::string(part) + R"(,"delta":)" + quoted(token) + std::string(more));
        }
        inside(std::string(name) + ".done",
               std::string(part) + ",\"" + std::string(member) + "\":" + quoted(joined(tokens)) + std::string(more));
    }
    [[nodiscard]] std::vector<piece> take() { return std::move(pieces_); }

private:
    [[nodiscard]] std::string item_at(std::string_view item) const {
        return R"(,"output_index":)" + std::to_string(index_) + R"(,"item":)" + std::string(item);
    }
    std::vector<piece> pieces_;
    std::chrono::nanoseconds pause_{0};
    std::string at_;
    std::uint64_t number_ = 0;
    unsigned index_ = 0;
};

void write_thoughts(event_writer& events, const choice_text& c, const std::vector<std::string>& thinking,
                    std::chrono::nanoseconds step) {
    const std::string place = R"(,"summary_index":0)";
    events.begin_item(id_of("rs_", c), reasoning_item(c, "[]"));
    events.inside("response.reasoning_summary_part.added", place + R"(,"part":)" + summary_part(""));
    events.text("response.reasoning_summary_text", place, "text", thinking, "", step);
    events.inside("response.reasoning_summary_part.done", place + R"(,"part":)" + summary_part(joined(thinking)));
    events.end_item(reasoning_item(c, "[" + summary_part(joined(thinking)) + "]"));
}

}  // namespace

std::string response_object(const asked& a, const answer_facts& f, const choice_text& c) {
    return whole(a, f, c);
}

std::vector<piece> response_stream(const asked& a, const answer_facts& f, const choice_text& c,
                                   std::chrono::nanoseconds latency, std::chrono::nanoseconds step) {
    event_writer events;
    const std::string begun = R"(,"response":)" + response(f, R"("in_progress")", "null", "[]", "null");
    events.wait(latency);
    events.event("response.created", begun);
    events.event("response.in_progress", begun);
    if (const auto thinking = thoughts(a, c); !thinking.empty()) write_thoughts(events, c, thinking, step);
    if (c.tool_call) {
        const std::string id = id_of(a.custom_tool ? "ctc_" : "fc_", c);
        events.begin_item(id, call_item(a, c, R"("in_progress")", ""));
        events.text(a.custom_tool ? "response.custom_tool_call_input" : "response.function_call_arguments", "",
                    a.custom_tool ? "input" : "arguments", c.tokens, "", step);
        events.end_item(call_item(a, c, item_status(c), joined(c.tokens)));
    } else {
        const std::string place = R"(,"content_index":0)";
        events.begin_item(id_of("msg_", c), message_item(c, R"("in_progress")", "[]"));
        events.inside("response.content_part.added", place + R"(,"part":)" + text_part(""));
        events.text("response.output_text", place, "text", c.tokens, R"(,"logprobs":[])", step);
        events.inside("response.content_part.done", place + R"(,"part":)" + text_part(joined(c.tokens)));
        events.end_item(message_item(c, item_status(c), "[" + text_part(joined(c.tokens)) + "]"));
    }
    const bool cut = c.finish == "length";
    events.event(cut ? "response.incomplete" : "response.completed", R"(,"response":)" + whole(a, f, c));
    return events.take();
}

}  // namespace idem::upstream::simulate
