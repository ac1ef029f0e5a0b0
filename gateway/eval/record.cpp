#include "gateway/eval/record.hpp"

#include <simdjson.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <type_traits>

#include "gateway/eval/plan.hpp"
#include "upstream/base/base64.hpp"
#include "upstream/determinism/compare/task.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::eval {

namespace json = boost::json;

namespace {

// The members of a record that are a text or a number, by name: one list for writing and for reading.
void members(auto&& r, auto&& each)
    requires std::is_same_v<std::remove_cvref_t<decltype(r)>, run_record>
{
    each("cell", r.cell);
    each("prompt", r.prompt);
    each("variant", r.variant);
    each("run", r.run);
    each("block", r.block);
    each("lifetime", r.lifetime);
    each("seed", r.seed);
    each("at", r.at);
    each("first_byte_ms", r.first_byte_ms);
    each("total_ms", r.total_ms);
    each("in_flight", r.in_flight);
    each("status", r.status);
    each("error", r.error);
    each("form", r.form);
}
void members(auto&& b, auto&& each)
    requires std::is_same_v<std::remove_cvref_t<decltype(b)>, block_record>
{
    each("ended_block", b.block);
    each("cell", b.cell);
    each("environment_before", b.environment_before);
    each("environment_after", b.environment_after);
    each("elsewhere_before", b.elsewhere_before);
    each("elsewhere_after", b.elsewhere_after);
    each("peak_running", b.peak_running);
    each("peak_in_flight", b.peak_in_flight);
    each("others_answered", b.others_answered);
    each("others_failed", b.others_failed);
}
void members(auto&& p, auto&& each)
    requires std::is_same_v<std::remove_cvref_t<decltype(p)>, prompt>
{
    each("id", p.id);
    each("kind", p.kind);
    each("path", p.path);
    each("body", p.body);
    each("runs", p.runs);
    each("check", p.check);
}
void members(auto&& s, auto&& each)
    requires std::is_same_v<std::remove_cvref_t<decltype(s)>, server>
{
    each("id", s.id);
    each("url", s.url);
    each("environment", s.environment);
}
void members(auto&& s, auto&& each)
    requires std::is_same_v<std::remove_cvref_t<decltype(s)>, skipped_cell>
{
    each("cell", s.cell);
    each("why", s.why);
}
void members(auto&& m, auto&& each)
    requires std::is_same_v<std::remove_cvref_t<decltype(m)>, manifest>
{
    each("idem", m.idem);
    each("target", m.target);
    each("engine", m.engine);
    each("model", m.model);
    each("preset", m.preset);
    each("input", m.input);
    each("upstream", m.upstream);
    each("gateway", m.gateway);
    each("seed", m.seed);
    each("p_max", m.p_max);
    each("confidence", m.confidence);
    each("started", m.started);
    each("environment", m.environment);
}

json::object object_of(const auto& record) {
    json::object o;
    members(record, [&](std::string_view name, const auto& value) { o[name] = value; });
    return o;
}

// Returns what is wrong, by name; members that are not there stay as they are.
template <class T>
std::string read(const json::object& o, std::string_view name, T& into) {
    const json::value* v = o.if_contains(name);
    if (!v) return {};
    if constexpr (std::is_same_v<T, std::string>) {
        if (!v->is_string()) return "\"" + std::string(name) + "\" is not a text";
        into = v->get_string();
    } else {
        boost::system::error_code ec;
        const T number = v->is_number() ? v->to_number<T>(ec) : T{};
        if (!v->is_number() || ec) return "\"" + std::string(name) + "\" is not a number of its kind";
        into = number;
    }
    return {};
}

std::string read_members(const json::object& o, auto& record) {
    std::string error;
    members(record, [&](std::string_view name, auto& value) {
        if (error.empty()) error = read(o, name, value);
    });
    return error;
}

json::array array_of(const std::vector<std::string>& texts) {
    json::array out;
    for (const std::string& t : texts) out.emplace_back(t);
    return out;
}

std::vector<std::string> texts_of(const json::object& o, std::string_view name) {
    std::vector<std::string> out;
    const json::value* v = o.if_contains(name);
    if (!v || !v->is_array()) return out;
    for (const json::value& t : v->get_array())
        if (t.is_string()) out.emplace_back(t.get_string());
    return out;
}

std::vector<const json::object*> objects_of(const json::object& o, std::string_view name) {
    std::vector<const json::object*> out;
    const json::value* v = o.if_contains(name);
    if (!v || !v->is_array()) return out;
    for (const json::value& each : v->get_array())
        if (each.is_object()) out.push_back(&each.get_object());
    return out;
}

std::string slurp(const std::string& file, bool& good) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream all;
    if (in) all << in.rdbuf();
    good = static_cast<bool>(in);
    return std::move(all).str();
}

}  // namespace

std::string to_json(const manifest& m) {
    json::array prompts, skipped, replicas;
    for (const prompt& p : m.prompts) prompts.push_back(object_of(p));
    for (const skipped_cell& c : m.skipped) skipped.push_back(object_of(c));
    for (const server& r : m.replicas) replicas.push_back(object_of(r));
    json::object o = object_of(m);
    o["replicas"] = std::move(replicas);
    o["version"] = record_version;
    o["cells"] = array_of(m.cells);
    o["skipped"] = std::move(skipped);
    o["facts"] = array_of(m.facts);
    o["prompts"] = std::move(prompts);
    return json::serialize(o) + "\n";
}

std::string to_line(const run_record& r) {
    const bool text = simdjson::validate_utf8(r.body.data(), r.body.size());
    json::object o = object_of(r);
    o[text ? "body" : "body_base64"] = text ? r.body : base64_of(r.body);
    return json::serialize(o);
}

std::string to_line(const block_record& b) {
    return json::serialize(object_of(b));
}

namespace {

// What an evaluation cannot go on from.
std::string unfit(const manifest& m) {
    if (!upstream::engine::known(m.engine)) return "\"" + m.engine + "\" is no engine";
    if (m.prompts.empty()) return "there is no prompt";
    for (const prompt& p : m.prompts) {
        if (!p.check.empty() && !upstream::determinism::known_check(p.check))
            return "the prompt \"" + p.id + "\" has the check \"" + p.check + "\", which is not known";
        if (p.runs == 0) return "the prompt \"" + p.id + "\" has no runs";
        if (!upstream::dialect::find("POST", p.path)) return "no API that Idem knows has the path " + p.path;
    }
    for (const std::string& c : m.cells)
        if (!cell_from(c)) return "there is no cell \"" + c + "\"";
    return m.cells.empty() ? "there is no cell" : std::string();
}

std::string read_about(const json::object& o, manifest& into) {
    unsigned version = 0;
    if (std::string error = read(o, "version", version); !error.empty()) return error;
    if (version != record_version)
        return "version " + std::to_string(version) + ", expected " + std::to_string(record_version);
    std::string error = read_members(o, into);
    into.cells = texts_of(o, "cells");
    into.facts = texts_of(o, "facts");
    for (const json::object* s : objects_of(o, "skipped"))
        if (error.empty()) error = read_members(*s, into.skipped.emplace_back());
    for (const json::object* r : objects_of(o, "replicas"))
        if (error.empty()) error = read_members(*r, into.replicas.emplace_back());
    for (const json::object* p : objects_of(o, "prompts"))
        if (error.empty()) error = read_members(*p, into.prompts.emplace_back());
    return error.empty() ? unfit(into) : error;
}

std::string take(const json::object& o, recording& into) {
    if (o.contains("ended_block")) return read_members(o, into.blocks.emplace_back());
    run_record& r = into.runs.emplace_back();
    std::string bytes;
    std::string error = read_members(o, r);
    if (error.empty()) error = read(o, "body", r.body);
    if (error.empty()) error = read(o, "body_base64", bytes);
    if (!bytes.empty()) r.body = base64_bytes(bytes).value_or("");
    return error;
}

}  // namespace

bool read_manifest(std::string_view text, manifest& into, std::string& error) {
    boost::system::error_code ec;
    const json::value v = json::parse(text, ec);
    error = ec || !v.is_object() ? "not a JSON object" : read_about(v.get_object(), into);
    if (!error.empty()) error = "manifest.json: " + error;
    return error.empty();
}

bool read_lines(std::string_view lines, recording& into, std::string& error) {
    std::size_t number = 0;
    while (!lines.empty()) {
        ++number;
        const auto end = lines.find('\n');
        const std::string_view line = lines.substr(0, end);
        lines = end == std::string_view::npos ? std::string_view{} : lines.substr(end + 1);
        boost::system::error_code ec;
        const json::value v = json::parse(line, ec);
        if (ec || !v.is_object()) {
            if (end == std::string_view::npos) {  // whoever wrote it was ended in the middle
                into.torn = true;
                return true;
            }
            error = "runs.jsonl:" + std::to_string(number) + ": not a JSON object";
            return false;
        }
        if (std::string wrong = take(v.get_object(), into); !wrong.empty()) {
            error = "runs.jsonl:" + std::to_string(number) + ": " + wrong;
            return false;
        }
    }
    return true;
}

bool read_directory(const std::string& directory, recording& into, std::string& error) {
    bool good = false;
    const std::string about = slurp(directory + "/manifest.json", good);
    if (!good) {
        error = "cannot read " + directory + "/manifest.json";
        return false;
    }
    if (!read_manifest(about, into.about, error)) return false;
    const std::string lines = slurp(directory + "/runs.jsonl", good);
    if (!good) {
        error = "cannot read " + directory + "/runs.jsonl";
        return false;
    }
    return read_lines(lines, into, error);
}

}  // namespace idem::gateway::eval
