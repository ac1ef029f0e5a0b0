#include "gateway/eval/reading.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "upstream/dialect/dialect.hpp"

namespace idem::gateway::eval {

namespace dialect = upstream::dialect;
namespace json = boost::json;

namespace {

// The words of a normalised output, which is JSON of the dialect's own making.
void collect(const json::value& v, std::string_view key, std::string& into) {
    constexpr std::string_view words[] = {"content", "text", "reasoning", "reasoning_content", "thinking",
                                          "refusal", "name", "arguments", "response"};
    if (v.is_string() && std::ranges::find(words, key) != std::end(words)) {
        into += std::string_view(v.get_string());
        into += '\n';
    } else if (v.is_array()) {
        for (const json::value& each : v.get_array()) collect(each, key, into);
    } else if (v.is_object()) {
        for (const auto& [name, each] : v.get_object()) collect(each, name, into);
    }
}

// Of all its choices, one after the other.
void collect_ids(const json::value& v, std::string_view key, std::vector<std::int64_t>& into) {
    const bool ids = key == "token_ids" || key == "output_ids" || key == "tokens";
    if (v.is_array()) {
        for (const json::value& each : v.get_array()) {
            if (ids && each.is_int64())
                into.push_back(each.get_int64());
            else
                collect_ids(each, {}, into);
        }
    } else if (v.is_object()) {
        for (const auto& [name, each] : v.get_object()) collect_ids(each, name, into);
    }
}

std::vector<std::int64_t> ids_of(const std::string& normal) {
    boost::system::error_code ec;
    std::vector<std::int64_t> out;
    if (const json::value v = json::parse(normal, ec); !ec) collect_ids(v, {}, out);
    return out;
}

void add_logprob(const json::value& name, const json::value* value, reading& into) {
    if (!name.is_string() || !value || !value->is_number()) return;  // an echoed prompt's first token has none
    into.token_names.emplace_back(name.get_string());
    into.logprobs.push_back(value->to_number<double>());
}

// Of OpenAI's chats ("content": [{"token", "logprob"}]) and completions ("tokens", "token_logprobs").
void read_logprobs(std::string_view body, reading& into) {
    boost::system::error_code ec;
    const json::value v = json::parse(body, ec);
    const json::value* told = ec ? nullptr : v.find_pointer("/choices/0/logprobs", ec);
    if (!told || !told->is_object()) return;
    const json::object& o = told->get_object();
    if (const json::value* content = o.if_contains("content"); content && content->is_array()) {
        for (const json::value& each : content->get_array()) {
            const json::object* token = each.if_object();
            const json::value* name = token ? token->if_contains("token") : nullptr;
            if (name) add_logprob(*name, token->if_contains("logprob"), into);
        }
    }
    const json::value *names = o.if_contains("tokens"), *values = o.if_contains("token_logprobs");
    if (!names || !values || !names->is_array() || !values->is_array()) return;
    const json::array &all = names->get_array(), &numbers = values->get_array();
    for (std::size_t i = 0; i < all.size() && i < numbers.size(); ++i) add_logprob(all[i], &numbers[i], into);
}

}  // namespace

std::string words_of(const std::string& normal) {
    boost::system::error_code ec;
    const json::value v = json::parse(normal, ec);
    std::string out;
    if (!ec) collect(v, {}, out);
    return out.empty() ? normal : out;
}

std::optional<reading> read_run(const run_record& r, std::string_view path) {
    if (r.status != 200 || !r.error.empty()) return std::nullopt;
    const dialect::dialect* api = dialect::find("POST", path);
    if (!api) return std::nullopt;
    const dialect::form form = r.form == "sse" ? dialect::form::sse : dialect::form::json;
    dialect::call c;
    c.wanted = form;
    c.limit_set = true;
    const auto watcher = api->watch(form, c);
    watcher->feed(r.body);
    const dialect::verdict v = watcher->finish(true);
    if (v.refuse != reason::none) return std::nullopt;
    auto normal = v.normalised ? v.normalised : api->normalised(form, r.body);
    if (!normal) return std::nullopt;
    reading out;
    out.prompt_tokens = v.tokens ? v.tokens->input : 0;
    out.fingerprint = v.fingerprint;
    out.text = words_of(*normal);
    out.ids = ids_of(*normal);
    if (form == dialect::form::json) read_logprobs(r.body, out);
    out.normal = std::move(*normal);
    return out;
}

}  // namespace idem::gateway::eval
