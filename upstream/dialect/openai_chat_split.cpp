// A chat completion's message, as deltas: role, reasoning, content, refusal, annotations, function call, tool calls,
// audio.
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/openai_split.hpp"

namespace idem::upstream::dialect::openai {
namespace {

bool is_empty(std::string_view token) noexcept {
    const json_kind kind = kind_of(token);
    if (kind == json_kind::array) return trim(token.substr(1, token.size() - 2)).empty();
    return kind == json_kind::null || token == "\"\"";
}

class message_splitter {
public:
    message_splitter(chunk_writer& out, std::string_view choice, std::size_t index)
        : out_(out),
          choice_(choice),
          index_(std::to_string(index)),
          message_(find_member(choice, "message")),
          logprobs_(find_member(choice, "logprobs")) {}

    [[nodiscard]] bool run() {
        if (find_member(choice_, "index") != index_ || !well_formed()) return false;
        write_opening();
        write_content();
        for (const std::string_view key : {"refusal", "annotations"}) write_whole(key);
        if (!write_nested("function_call")) return false;
        if (!write_tool_calls() || !write_audio()) return false;
        write_finish();
        return true;
    }

private:
    [[nodiscard]] std::string_view member(std::string_view key) const noexcept { return find_member(message_, key); }

    [[nodiscard]] static bool absent_or(std::string_view token, json_kind wanted) noexcept {
        const json_kind kind = kind_of(token);
        return kind == json_kind::invalid || kind == json_kind::null || kind == wanted;
    }

    [[nodiscard]] bool well_formed() const noexcept {
        if (string_inner(find_member(choice_, "finish_reason")).empty()) return false;
        if (!find_member(choice_, "delta").empty()) return false;
        if (string_inner(member("role")).empty() || member("content").empty()) return false;
        for (const std::string_view key : {"content", "refusal", "reasoning_content", "reasoning"}) {
            if (!absent_or(member(key), json_kind::string)) return false;
        }
        for (const std::string_view key : {"tool_calls", "annotations"}) {
            if (!absent_or(member(key), json_kind::array)) return false;
        }
        for (const std::string_view key : {"function_call", "audio"}) {
            if (!absent_or(member(key), json_kind::object)) return false;
        }
        return absent_or(logprobs_, json_kind::object);
    }

    void write(std::string_view delta, std::string_view logprobs = "null") {
        std::string choice = R"({"index":)" + index_ + R"(,"delta":{)";
        choice.append(delta).append("}");
        if (!logprobs_.empty()) {
            choice += ',';
            append_member(choice, "logprobs", logprobs);
        }
        out_.write(choice + R"(,"finish_reason":null})");
    }

    // The role, all that is empty, and empty strings where pieces follow: every member finds its place in order.
    void write_opening() {
        std::string delta;
        json_members members(message_);
        while (members.next()) {
            const std::string_view key = members.key();
            const bool opens = key == "role" || is_empty(members.value());
            if (!opens && key != "content") continue;
            if (!delta.empty()) delta += ',';
            append_member(delta, key, opens ? members.value() : std::string_view("\"\""));
        }
        write(delta);
        // Reasoning and what we do not know comes before the content.
        members = json_members(message_);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "role" || key == "content" || key == "refusal" || key == "annotations" ||
                key == "function_call" || key == "tool_calls" || key == "audio") {
                continue;
            }
            write_whole(key);
        }
    }

    void write_whole(std::string_view key) {
        const std::string_view value = member(key);
        if (value.empty() || is_empty(value)) return;
        std::string delta;
        append_member(delta, key, value);
        write(delta);
    }

    // An empty content beside a tool call is said twice, or it would be read as null; see chat_choice::settle_content.
    void write_content() {
        const std::string_view content = member("content");
        const bool scored = kind_of(logprobs_) == json_kind::object;
        const bool others = [this] {
            for (const std::string_view key : {"tool_calls", "function_call", "refusal", "audio"}) {
                if (!member(key).empty() && !is_empty(member(key))) return true;
            }
            return false;
        }();
        if (is_empty(content) && !(others && kind_of(content) == json_kind::string)) {
            if (scored) write("", logprobs_);
            return;
        }
        std::string delta;
        append_member(delta, "content", content);
        write(delta, scored ? logprobs_ : "null");
    }

    // `{name, arguments}` in two deltas, as servers send it: first with empty arguments, then the arguments.
    [[nodiscard]] static bool take_apart(std::string_view object, std::string& opening, std::string& rest) {
        json_members members(object);
        while (members.next()) {
            const bool piece = members.key() == "arguments" || members.key() == "input";
            if (piece && kind_of(members.value()) != json_kind::string) return false;
            if (!opening.empty()) opening += ',';
            append_member(opening, members.key(), piece ? std::string_view("\"\"") : members.value());
            if (!piece || is_empty(members.value())) continue;
            if (!rest.empty()) return false;
            append_member(rest, members.key(), members.value());
        }
        return true;
    }

    [[nodiscard]] bool write_nested(std::string_view key) {
        const std::string_view value = member(key);
        if (value.empty() || is_empty(value)) return true;
        std::string opening;
        std::string rest;
        if (!take_apart(value, opening, rest)) return false;
        write("\"" + std::string(key) + "\":{" + opening + "}");
        if (!rest.empty()) write("\"" + std::string(key) + "\":{" + rest + "}");
        return true;
    }

    [[nodiscard]] bool write_tool_calls() {
        json_items calls(member("tool_calls"));
        for (std::size_t i = 0; calls.next(); ++i) {
            if (!write_tool_call(calls.value(), R"("tool_calls":[{"index":)" + std::to_string(i))) return false;
        }
        return true;
    }

    // Whole in one delta: every client takes that, and Mistral's takes no delta without the name.
    [[nodiscard]] bool write_tool_call(std::string_view call, const std::string& head) {
        if (kind_of(call) != json_kind::object || string_inner(find_member(call, "id")).empty()) return false;
        std::string delta = head;
        json_members members(call);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "index") return false;  // it would be taken for the position
            if ((key == "function" || key == "custom") && !is_called(members.value())) return false;
            delta += ',';
            append_member(delta, key, members.value());
        }
        write(delta + "}]");
        return true;
    }

    // `{name, arguments}`, each once.
    [[nodiscard]] static bool is_called(std::string_view function) {
        std::string opening;
        std::string rest;
        return kind_of(function) == json_kind::object && take_apart(function, opening, rest);
    }

    [[nodiscard]] bool write_audio() {
        const std::string_view audio = member("audio");
        if (audio.empty() || is_empty(audio)) return true;
        std::string opening;
        std::string data;
        std::string end;
        json_members members(audio);
        while (members.next()) {
            const bool text = kind_of(members.value()) == json_kind::string;
            if ((members.key() == "data" || members.key() == "transcript") && !text) return false;
            std::string& part = members.key() == "data" ? data : members.key() == "expires_at" ? end : opening;
            if (!part.empty()) part += ',';
            append_member(part, members.key(), members.value());
        }
        for (const std::string& part : {opening, data, end}) {
            if (!part.empty()) write(R"("audio":{)" + part + "}");
        }
        return true;
    }

    void write_finish() {
        std::string choice = R"({"index":)" + index_ + R"(,"delta":{})";
        if (!logprobs_.empty()) choice += R"(,"logprobs":null)";
        json_members members(choice_);
        while (members.next()) {
            const std::string_view key = members.key();
            if (key == "index" || key == "message" || key == "logprobs") continue;
            choice += ',';
            append_member(choice, key, members.value());
        }
        out_.write(choice + "}");
    }

    chunk_writer& out_;
    std::string_view choice_;
    std::string index_;
    std::string_view message_;
    std::string_view logprobs_;
};

}  // namespace

std::optional<std::string> split_chat(std::string_view object, bool include_usage) {
    chunk_writer out(object, "chat.completion", "chat.completion.chunk", include_usage);
    if (!out.good()) return std::nullopt;
    json_items choices(out.choices());
    std::size_t index = 0;
    while (choices.next()) {
        message_splitter splitter(out, choices.value(), index++);
        if (!splitter.run()) return std::nullopt;
    }
    if (index == 0) return std::nullopt;
    return out.finish();
}

}  // namespace idem::upstream::dialect::openai
