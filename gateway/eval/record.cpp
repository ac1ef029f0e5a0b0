#include "gateway/eval/record.hpp"

#include <simdjson.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "upstream/base/base64.hpp"

namespace idem::gateway::eval {

namespace json = boost::json;

namespace {

template <class T>
void read(const json::object& o, std::string_view name, T& into) {
    const json::value* v = o.if_contains(name);
    if (!v) return;
    if constexpr (std::is_same_v<T, std::string>) {
        if (v->is_string()) into = v->get_string();
    } else {
        if (v->is_number()) into = v->to_number<T>();
    }
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
    json::array prompts, skipped;
    for (const prompt& p : m.prompts)
        prompts.push_back({{"id", p.id}, {"kind", p.kind}, {"path", p.path}, {"body", p.body}, {"runs", p.runs}});
    for (const skipped_cell& s : m.skipped) skipped.push_back({{"cell", s.cell}, {"why", s.why}});
    return json::serialize(json::object{{"version", record_version},
                                        {"idem", m.idem},
                                        {"target", m.target},
                                        {"engine", m.engine},
                                        {"model", m.model},
                                        {"preset", m.preset},
                                        {"seed", m.seed},
                                        {"p_max", m.p_max},
                                        {"confidence", m.confidence},
                                        {"started", m.started},
                                        {"cells", array_of(m.cells)},
                                        {"skipped", std::move(skipped)},
                                        {"environment", m.environment},
                                        {"facts", array_of(m.facts)},
                                        {"prompts", std::move(prompts)}}) +
           "\n";
}

std::string to_line(const run_record& r) {
    const bool text = simdjson::validate_utf8(r.body.data(), r.body.size());
    return json::serialize(json::object{{"cell", r.cell},
                                        {"prompt", r.prompt},
                                        {"variant", r.variant},
                                        {"run", r.run},
                                        {"block", r.block},
                                        {"seed", r.seed},
                                        {"at", r.at},
                                        {"first_byte_ms", r.first_byte_ms},
                                        {"total_ms", r.total_ms},
                                        {"in_flight", r.in_flight},
                                        {"status", r.status},
                                        {"error", r.error},
                                        {"form", r.form},
                                        {text ? "body" : "body_base64", text ? r.body : base64_of(r.body)}});
}

std::string to_line(const block_record& b) {
    return json::serialize(json::object{{"ended_block", b.block},
                                        {"cell", b.cell},
                                        {"environment_before", b.environment_before},
                                        {"environment_after", b.environment_after},
                                        {"peak_running", b.peak_running},
                                        {"peak_in_flight", b.peak_in_flight}});
}

bool read_manifest(std::string_view text, manifest& into, std::string& error) {
    boost::system::error_code ec;
    const json::value v = json::parse(text, ec);
    if (ec || !v.is_object()) {
        error = "manifest.json is not a JSON object";
        return false;
    }
    const json::object& o = v.get_object();
    unsigned version = 0;
    read(o, "version", version);
    if (version != record_version) {
        error =
            "manifest.json is of version " + std::to_string(version) + ", expected " + std::to_string(record_version);
        return false;
    }
    read(o, "idem", into.idem);
    read(o, "target", into.target);
    read(o, "engine", into.engine);
    read(o, "model", into.model);
    read(o, "preset", into.preset);
    read(o, "seed", into.seed);
    read(o, "p_max", into.p_max);
    read(o, "confidence", into.confidence);
    read(o, "started", into.started);
    read(o, "environment", into.environment);
    into.cells = texts_of(o, "cells");
    into.facts = texts_of(o, "facts");
    for (const json::object* s : objects_of(o, "skipped")) {
        skipped_cell one;
        read(*s, "cell", one.cell);
        read(*s, "why", one.why);
        into.skipped.push_back(std::move(one));
    }
    for (const json::object* p : objects_of(o, "prompts")) {
        prompt one;
        read(*p, "id", one.id);
        read(*p, "kind", one.kind);
        read(*p, "path", one.path);
        read(*p, "body", one.body);
        read(*p, "runs", one.runs);
        into.prompts.push_back(std::move(one));
    }
    return true;
}

namespace {

void take(const json::object& o, recording& into) {
    if (o.contains("ended_block")) {
        block_record b;
        read(o, "ended_block", b.block);
        read(o, "cell", b.cell);
        read(o, "environment_before", b.environment_before);
        read(o, "environment_after", b.environment_after);
        read(o, "peak_running", b.peak_running);
        read(o, "peak_in_flight", b.peak_in_flight);
        into.blocks.push_back(std::move(b));
        return;
    }
    run_record r;
    read(o, "cell", r.cell);
    read(o, "prompt", r.prompt);
    read(o, "variant", r.variant);
    read(o, "run", r.run);
    read(o, "block", r.block);
    read(o, "seed", r.seed);
    read(o, "at", r.at);
    read(o, "first_byte_ms", r.first_byte_ms);
    read(o, "total_ms", r.total_ms);
    read(o, "in_flight", r.in_flight);
    read(o, "status", r.status);
    read(o, "error", r.error);
    read(o, "form", r.form);
    read(o, "body", r.body);
    std::string bytes;
    read(o, "body_base64", bytes);
    if (!bytes.empty()) r.body = base64_bytes(bytes).value_or("");
    into.runs.push_back(std::move(r));
}

}  // namespace

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
        take(v.get_object(), into);
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
