#include "gateway/receipts/statement.hpp"

#include <array>
#include <boost/json.hpp>
#include <cstdio>

#include "gateway/cli/version.hpp"
#include "gateway/receipts/envelope.hpp"
#include "upstream/determinism/guarantee.hpp"

namespace idem::gateway::receipts {

namespace json = boost::json;
namespace determinism = upstream::determinism;
using upstream::dialect::form;

namespace {

constexpr std::array<std::string_view, 4> form_words{"json", "sse", "ndjson", "json_base64"};

// Four decimals as text: no two libraries write a binary fraction alike.
std::string bound_text(std::uint32_t runs) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.4f", determinism::flip_bound(runs));
    return text.data();
}

bool is_text(std::string_view text) {
    return !canonical("{\"x\":" + json::serialize(json::string(text)) + "}").empty();
}

// Bytes of foreign texts that are not UTF-8 have no canonical form: they are shown as such.
json::string shown(std::string_view text) {
    if (is_text(text)) return json::string(text);
    return json::string("hex:" + to_hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
}

json::object environment_json(const cache::entry& e, const circumstances& c) {
    json::object o{{"id", to_hex(e.environment.bytes)}};
    if (!c.facts || c.facts->id() != e.environment) return o;
    json::array facts;
    for (const determinism::fact& f : c.facts->facts()) {
        if (!is_text(f.name) || !is_text(f.value)) return o;  // they could not be checked against the id
        facts.push_back(json::object{{"name", f.name}, {"provenance", to_string(f.from)}, {"value", f.value}});
    }
    o["facts"] = std::move(facts);
    return o;
}

json::object guarantee_json(const determinism::guarantee& g) {
    json::object o{{"level", to_string(g.what)}};
    if (g.what == determinism::level::none) return o;
    o["mode"] = to_string(g.how);
    o["runs"] = g.runs;
    o["flip_bound_95"] = bound_text(g.runs);
    return o;
}

const json::object* object_in(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    return v ? v->if_object() : nullptr;
}

std::string text_in(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

const json::value* token_ids(const json::object& answer) {
    if (const json::value* ids = answer.if_contains("prompt_token_ids")) return ids;
    const json::value* choices = answer.if_contains("choices");
    if (!choices || !choices->is_array() || choices->get_array().empty()) return nullptr;
    const json::object* first = choices->get_array()[0].if_object();
    return first ? first->if_contains("prompt_token_ids") : nullptr;
}

form form_of(std::string_view body) {
    const auto at = body.find_first_not_of(" \t\r\n");
    if (at == std::string_view::npos || body[at] != '{') return form::sse;
    boost::system::error_code ec;
    (void)json::parse(body, ec);
    return ec ? form::ndjson : form::json;
}

}  // namespace

std::optional<digest> prompt_token_digest(std::string_view body) {
    if (body.find("prompt_token_ids") == std::string_view::npos) return std::nullopt;
    boost::system::error_code ec;
    const json::value parsed = json::parse(body, ec);
    const json::object* answer = ec ? nullptr : parsed.if_object();
    const json::value* ids = answer ? token_ids(*answer) : nullptr;
    if (!ids || !ids->is_array()) return std::nullopt;
    for (const json::value& id : ids->get_array())
        if (!id.is_int64() && !id.is_uint64()) return std::nullopt;
    return sha256(json::serialize(*ids));
}

std::string statement_of(const cache::entry& e, const circumstances& c, std::string_view signer) {
    json::object prompt;
    if (e.tokens) prompt["count"] = e.tokens->input;
    if (const auto ids = is_object(e.form) ? prompt_token_digest(e.body) : std::nullopt)
        prompt["sha256"] = to_hex(ids->bytes);
    const json::object o{
        {"type", receipt_type},
        {"signer", signer},
        {"idem", cli::version()},
        {"time", e.created},
        {"request", to_hex(e.request.bytes)},
        {"output", to_hex(e.output.bytes)},
        {"prompt_tokens", std::move(prompt)},
        {"treatment", to_hex(c.treatment.bytes)},
        {"policy", shown(c.policy)},
        {"configuration", to_hex(c.configuration.bytes)},
        {"guarantee", guarantee_json(e.promise)},
        {"environment", environment_json(e, c)},
        {"epoch", to_hex(e.epoch.bytes)},
        {"upstream", shown(e.upstream)},
        {"replica", shown(e.replica)},
        {"model", shown(e.model)},
        {"dialect", e.dialect},
        {"entry", json::object{{"key", to_hex(e.key.value.bytes)},
                               {"fill", to_hex(e.fill.bytes)},
                               {"form", form_words[static_cast<std::size_t>(e.form)]},
                               {"bytes", e.body.size()},
                               {"sha256", to_hex(sha256(e.body).bytes)}}},
    };
    return canonical(json::serialize(o));
}

std::string check_statement(std::string_view statement) {
    boost::system::error_code ec;
    const json::value parsed = json::parse(statement, ec);
    if (ec || !parsed.is_object()) return "the statement is not a JSON object";
    const json::object* of = object_in(parsed.get_object(), "environment");
    const json::value* facts = of ? of->if_contains("facts") : nullptr;
    if (!facts) return {};
    if (!facts->is_array()) return "the facts of the environment are not a list";
    determinism::environment e;
    for (const json::value& each : facts->get_array()) {
        const json::object* f = each.if_object();
        if (!f) return "a fact of the environment is not an object";
        determinism::fact fact{text_in(*f, "name"), text_in(*f, "value"), determinism::provenance::unknown};
        for (const auto p :
             {determinism::provenance::measured, determinism::provenance::reported, determinism::provenance::declared})
            if (to_string(p) == text_in(*f, "provenance")) fact.from = p;
        e.add(std::move(fact));
    }
    if (to_hex(e.id().bytes) != text_in(*of, "id")) return "the facts are not those that the environment id commits to";
    return {};
}

entry_check check_entry(std::string_view statement, std::string_view body) {
    boost::system::error_code ec;
    const json::value parsed = json::parse(statement, ec);
    const json::object* o = ec ? nullptr : parsed.if_object();
    const json::object* entry = o ? object_in(*o, "entry") : nullptr;
    if (!entry) return entry_check::unreadable;
    if (to_hex(sha256(body).bytes) == text_in(*entry, "sha256")) return entry_check::same;
    const auto* api = upstream::dialect::by_name(text_in(*o, "dialect"));
    const auto normal = api ? api->normalised(form_of(body), body) : std::nullopt;
    if (normal && to_hex(sha256(*normal).bytes) == text_in(*o, "output")) return entry_check::same_output;
    return entry_check::differs;
}

}  // namespace idem::gateway::receipts
