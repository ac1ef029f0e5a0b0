#include "upstream/determinism/golden.hpp"

#include <simdjson.h>

#include "upstream/dialect/dialect.hpp"
#include "upstream/dialect/json_parse.hpp"

namespace idem::upstream::determinism {

namespace {

namespace dom = simdjson::dom;

constexpr std::string_view chat_path = "/v1/chat/completions";
constexpr std::uint64_t usual_tokens = 64;

// `content` is a JSON string with its quotes.
std::string chat_body(std::string_view content, std::uint64_t max_tokens) {
    return R"({"messages":[{"role":"user","content":)" + std::string(content) + R"(}],"max_tokens":)" +
           std::to_string(max_tokens) + R"(,"temperature":0,"seed":0})";
}

std::string parse_line(std::string_view line, std::size_t number, golden_prompt& out) {
    dom::object o;
    if (dialect::parse_copied(line).get_object().get(o) != simdjson::SUCCESS) return "not a JSON object";
    out.name = dialect::text_of(o, "name");
    if (out.name.empty()) out.name = "line-" + std::to_string(number);
    dom::element value;
    if (dialect::present(o, "prompt", value)) {
        if (!value.is_string()) return "\"prompt\" is not a text";
        std::uint64_t tokens = dialect::count_of(o, "max_tokens");
        out.path = chat_path;
        out.body = chat_body(simdjson::minify(value), tokens == 0 ? usual_tokens : tokens);
        return {};
    }
    if (!dialect::present(o, "body", value) || !value.is_object()) return "needs \"prompt\", or \"path\" and \"body\"";
    out.body = simdjson::minify(value);
    out.path = dialect::text_of(o, "path");
    if (out.path.empty()) return "\"path\" is missing";
    if (!dialect::find("POST", out.path)) return "no API that Idem knows has the path " + out.path;
    return {};
}

}  // namespace

std::vector<golden_prompt> builtin_golden() {
    const auto chat = [](std::string name, std::string_view content) {
        return golden_prompt{std::move(name), std::string(chat_path), chat_body(content, usual_tokens)};
    };
    return {
        chat("harbour", R"("Describe a small harbour at dawn in three sentences.")"),
        chat("sum", R"("Add the numbers 17, 256, 1031 and 8. Show each step.")"),
        chat("function", R"("Write a Python function that returns the median of a list. Code only.")"),
        chat("river", R"("用两句话说明河流为什么会弯曲。")"),
    };
}

golden_file parse_golden(std::string_view text) {
    golden_file out;
    std::size_t number = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        ++number;
        while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
        if (line.empty() || line.starts_with('#')) continue;
        golden_prompt made;
        out.error = parse_line(line, number, made);
        if (out.error.empty() && out.prompts.size() == most_golden_prompts)
            out.error = "more than " + std::to_string(most_golden_prompts) + " prompts";
        if (!out.error.empty()) {
            out.error = "line " + std::to_string(number) + ": " + out.error;
            return out;
        }
        out.prompts.push_back(std::move(made));
    }
    if (out.prompts.empty()) out.error = "no prompt in it";
    return out;
}

std::string with_model(std::string_view body, std::string_view model) {
    dom::object o;
    if (model.empty() || dialect::parse_copied(body).get_object().get(o) != simdjson::SUCCESS) return std::string(body);
    if (o.at_key("model").error() == simdjson::SUCCESS) return std::string(body);
    const std::string_view rest = body.substr(body.find('{') + 1);
    const bool empty = o.size() == 0;
    std::string quoted = R"({"model":")";
    for (const char c : model) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) quoted += c;
    }
    quoted += empty ? "\"" : "\",";
    return quoted.append(rest);
}

}  // namespace idem::upstream::determinism
