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
    out.normal = std::move(*normal);
    return out;
}

}  // namespace idem::gateway::eval
