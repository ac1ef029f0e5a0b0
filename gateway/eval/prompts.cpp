#include "gateway/eval/prompts.hpp"

#include <boost/json.hpp>

#include "upstream/determinism/compare/task.hpp"
#include "upstream/determinism/golden.hpp"

namespace idem::gateway::eval {

namespace json = boost::json;

namespace {

prompt chat(std::string id, std::string_view kind, std::string_view text, unsigned tokens, json::object more = {}) {
    json::object body{{"messages", json::array{json::object{{"role", "user"}, {"content", text}}}},
                      {"max_tokens", tokens},
                      {"temperature", 0},
                      {"seed", 0}};
    for (auto& [name, value] : more) body[name] = std::move(value);
    return {std::move(id), std::string(kind), "/v1/chat/completions", json::serialize(body), 0};
}

json::object weather_tool() {
    return {{"tools",
             json::array{json::object{
                 {"type", "function"},
                 {"function",
                  json::object{{"name", "weather"},
                               {"description", "The weather at a place"},
                               {"parameters", json::object{{"type", "object"},
                                                           {"properties", json::object{{"city", {{"type", "string"}}},
                                                                                       {"day", {{"type", "string"}}}}},
                                                           {"required", json::array{"city"}}}}}}}}}};
}

json::object person_schema() {
    return {{"response_format",
             json::object{
                 {"type", "json_schema"},
                 {"json_schema",
                  json::object{{"name", "person"},
                               {"schema", json::object{{"type", "object"},
                                                       {"properties", json::object{{"name", {{"type", "string"}}},
                                                                                   {"age", {{"type", "integer"}}},
                                                                                   {"town", {{"type", "string"}}}}},
                                                       {"required", json::array{"name", "age", "town"}}}}}}}}};
}

// Paragraphs about nothing much, to be read before a question: longer than a prefill chunk of most servers.
std::string long_report(unsigned paragraphs) {
    std::string out = "Read this log of a lighthouse and answer the question at its end.\n\n";
    constexpr std::string_view winds[] = {"north", "north-east", "east", "south", "west"};
    constexpr std::string_view seas[] = {"calm", "choppy", "rough", "heavy"};
    for (unsigned day = 1; day <= paragraphs; ++day) {
        out += "Day " + std::to_string(day) + ": wind from the " + std::string(winds[day % 5]) + ", sea " +
               std::string(seas[day * 7 % 4]) + ". " + std::to_string(day * 13 % 29) + " ships passed, " +
               std::to_string(day * 5 % 11) + " of them under sail. The lamp burned " + std::to_string(8 + day % 7) +
               " hours and took " + std::to_string(20 + day * 3 % 17) + " litres of oil.\n";
    }
    return out + "\nQuestion: on which days did the lamp burn for more than 13 hours? List them.";
}

}  // namespace

std::vector<prompt> builtin_prompts() {
    std::vector<prompt> all = {
        chat("tie-coin", near_tie, "Toss a coin in your mind and answer with one word: heads or tails.", 8),
        chat("tie-true", near_tie,
             "Is this sentence true or false: \"This sentence has as many words as letters.\" One word.", 8),
        chat("tie-name", near_tie, "Invent a name for a small brown dog. Answer with the name alone.", 8),
        chat("tie-next", near_tie, "Continue this list with ten more items: apple, lamp, river, seven,", 64),
        chat("tie-colour", near_tie, "说一种颜色,只说一个词。", 8),
        chat("tie-story", near_tie,
             "Begin a story with the words \"Nobody had expected\" and go on for about 150 words.", 220),
        chat("fact-moon", "fact", "How far is the Moon from the Earth, in kilometres? One sentence.", 48),
        chat("fact-capital", "fact", "What is the capital of Kazakhstan? One word.", 8),
        chat("fact-tea", "fact", "绿茶和红茶有什么区别?用两句话回答。", 96),
        chat("json-person", "json", "Make up a person: name, age and town. Answer as JSON.", 96, person_schema()),
        chat("json-list", "json", "Answer with a JSON array of the first eight prime numbers and nothing else.", 48),
        chat("tool-weather", "tool", "Will I need an umbrella in Bergen tomorrow?", 64, weather_tool()),
        chat("tool-none", "tool", "Say hello in Norwegian. You need no tool for that.", 32, weather_tool()),
        chat("code-median", "code", "Write a Python function that returns the median of a list of numbers. Code only.",
             160),
        chat("code-sql", "code",
             "A table visits(person, place, day). Write one SQL query for the people who were at every place. Code "
             "only.",
             128),
        chat("code-review", "code",
             "Review this C function and name its one bug: int sum(const int *a, int n) { int s; for (int i = 0; i < "
             "n; i++) s += a[i]; return s; }",
             128),
        chat("reason-train", "reasoning",
             "A train leaves at 9:40 and takes 2 hours and 35 minutes; the clocks change by one hour forward on its "
             "way. When does it arrive, by "
             "the local clock? Think step by step.",
             200),
        chat("reason-boxes", "reasoning",
             "三个盒子分别写着“苹果”“橘子”“苹果和橘子”,标签都贴错了。最少打开几个盒子才能知道每个盒子里是什么?"
             "请逐步说明。",
             240),
        chat("reason-sum", "reasoning", "Add 17, 256, 1031 and 8. Show each step.", 120),
        chat("long-essay", "long", "Write an essay of about 400 words on why rivers bend.", 640),
        chat("long-chinese", "long", "写一篇约三百字的短文,介绍灯塔看守人的一天。", 640),
        chat("script-emoji", "script", "Retell the tale of the three little pigs in emoji alone, at most twenty.", 96),
        chat("script-mixed", "script", "Translate into English, Chinese and Arabic: \"The harbour is quiet at dawn.\"",
             128),
        chat("script-korean", "script", "한국의 사계절을 두 문장으로 설명해 주세요.", 128),
        chat("context-2k", "context", long_report(45), 96),
        chat("context-8k", "context", long_report(180), 96),
    };
    constexpr std::pair<std::string_view, std::string_view> checks[] = {
        {"tie-coin", "first-word"}, {"tie-true", "first-word"}, {"fact-capital", "first-word"},
        {"json-person", "json"},    {"json-list", "json"},      {"reason-sum", "number"}};
    for (prompt& p : all)
        for (const auto& [id, check] : checks)
            if (p.id == id) p.check = check;
    return all;
}

namespace {

// Of each line that holds a prompt, in their order. Empty where it says none.
std::vector<std::string> checks_of(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        boost::system::error_code ec;
        const json::value v = json::parse(line, ec);
        if (ec || !v.is_object()) continue;
        const json::value* check = v.get_object().if_contains("check");
        out.emplace_back(!check               ? std::string_view{}
                         : check->is_string() ? std::string_view(check->get_string())
                                              : "?");
    }
    return out;
}

}  // namespace

std::vector<prompt> parse_prompts(std::string_view text, std::string& error) {
    const auto read = upstream::determinism::parse_golden(text);
    error = read.error;
    std::vector<prompt> out;
    if (!error.empty()) return out;
    for (const auto& p : read.prompts) {
        for (const prompt& other : out)
            if (other.id == p.name) error = "two prompts have the name \"" + p.name + "\"";
        out.push_back({p.name, "file", p.path, p.body, 0});
    }
    const std::vector<std::string> checks = checks_of(text);
    for (std::size_t i = 0; i < out.size() && i < checks.size(); ++i) {
        out[i].check = checks[i];
        if (!checks[i].empty() && !upstream::determinism::known_check(checks[i]))
            error = "\"" + out[i].id +
                    "\" has a \"check\" that is none of json, json:/POINTER, number, first-word and "
                    "after:MARK";
    }
    return out;
}

}  // namespace idem::gateway::eval
