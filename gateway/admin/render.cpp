#include "gateway/admin/render.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "gateway/observe/access_line.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::gateway::admin {

namespace {

namespace json = boost::json;

std::string time_text(cache::unix_ms t) {
    std::string out;
    observe::clock_text clock;
    observe::append_time(out, t * 1000, clock);
    return out;
}

std::string_view form_text(upstream::dialect::form f) {
    switch (f) {
        case upstream::dialect::form::json:
            return "json";
        case upstream::dialect::form::sse:
            return "sse";
        case upstream::dialect::form::ndjson:
            return "ndjson";
        case upstream::dialect::form::json_base64:
            return "json_base64";
    }
    return {};
}

std::string guarantee_text(const upstream::determinism::guarantee& promise) {
    std::string out;
    upstream::determinism::append(out, promise);
    return out;
}

json::object entry_json(const cache::entry& e, std::string_view tier, cache::unix_ms now) {
    json::object headers;
    for (const auto& [name, text] : e.headers) headers[name] = text;
    json::object o{
        {"key", to_hex(e.key.value.bytes)},
        {"request_digest", to_hex(e.request.bytes)},
        {"output_digest", to_hex(e.output.bytes)},
        {"tier", tier},
        {"dialect", e.dialect},
        {"model", e.model},
        {"upstream", e.upstream},
        {"replica", e.replica},
        {"route", e.route},
        {"scope", e.scope_tag},
        {"epoch", to_hex(e.epoch.bytes)},
        {"environment", to_hex(e.environment.bytes)},
        {"guarantee", guarantee_text(e.promise)},
        {"fill", to_hex(e.fill.bytes)},
        {"created", time_text(e.created)},
        {"fresh_until", time_text(e.fresh_until)},
        {"keep_until", time_text(e.keep_until)},
        {"age_seconds", std::max<std::int64_t>(0, (now - e.created) / 1000)},
        {"form", form_text(e.form)},
        {"content_type", e.content_type},
        {"headers", std::move(headers)},
        {"body_bytes", e.body.size()},
        {"canonical_bytes", e.canonical_size},
        {"length_limited", e.length_limited},
        {"upstream_ms", e.upstream_ms},
        {"tags", json::array(e.tags.begin(), e.tags.end())},
    };
    if (!e.origin_request_id.empty()) o["origin_request_id"] = e.origin_request_id;
    if (e.tokens) o["tokens"] = {{"input", e.tokens->input}, {"output", e.tokens->output}};
    return o;
}

response as_json(unsigned status, const json::object& o) {
    return {.status = status, .body = json::serialize(o) + "\n"};
}

}  // namespace

response render_ready(const std::vector<check>& checks, bool verbose) {
    const bool good = std::all_of(checks.begin(), checks.end(), [](const check& c) { return c.good; });
    response r{.status = good ? 200u : 503u, .content_type = "text/plain; charset=utf-8"};
    if (good && !verbose) {
        r.body = "ok\n";
        return r;
    }
    for (const auto& c : checks) {
        r.body +=
            c.good ? c.degraded ? "[!]" + c.name + " degraded" : "[+]" + c.name + " ok" : "[-]" + c.name + " failed";
        if (!c.detail.empty()) r.body += ": " + c.detail;
        r.body += "\n";
    }
    r.body += good ? "readyz check passed\n" : "readyz check failed\n";
    return r;
}

response render_metrics(std::string text, bool open_metrics) {
    return {.content_type = open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                         : "text/plain; version=0.0.4; charset=utf-8",
            .body = std::move(text)};
}

response render_found(const found& f, bool with_body, cache::unix_ms now) {
    switch (f.is) {
        case found::status::absent:
            return problem(404, "no entry has this key");
        case found::status::failed:
            return problem(503, "the store could not be asked: " + f.why);
        case found::status::found:
            break;
    }
    auto o = entry_json(*f.value, f.tier, now);
    if (!with_body) return as_json(200, o);
    // Written by hand: stored bytes need not be UTF-8, which a JSON library would pass through or refuse.
    std::string text = json::serialize(o);
    text.pop_back();
    text += ",\"body\":";
    observe::append_json_text(text, f.value->body, f.value->body.size());
    return {.body = text + "}\n"};
}

response render_list(const entry_list& l, cache::unix_ms now) {
    if (!l.why.empty()) return problem(503, "the store could not be read: " + l.why);
    json::array entries;
    for (const cache::entry_ptr& e : l.entries) entries.push_back(entry_json(*e, l.tier, now));
    return as_json(200,
                   {{"entries", std::move(entries)}, {"next", l.next.empty() ? json::value() : json::value(l.next)}});
}

response render_drift(const drift_found& f, const id128& before, const id128& after) {
    if (f.status != 200) return problem(f.status, f.detail);
    const cache::drift_report& r = f.report;
    json::object o{{"from", to_hex(before.bytes)}, {"to", to_hex(after.bytes)},  {"prompts", r.both},
                   {"changed", r.changed},         {"share", nullptr},           {"divergences", r.divergences},
                   {"drifts", r.drifts},           {"variations", r.variations}, {"only_from", r.only_before},
                   {"only_to", r.only_after}};
    if (r.both > 0) o["share"] = static_cast<double>(r.changed) / static_cast<double>(r.both);
    return {.body = json::serialize(o) + "\n"};
}

response render_order(const order_result& o) {
    if (o.status != 202 && o.status != 200) return problem(o.status, o.detail);
    json::object out;
    if (o.status == 202) out["accepted"] = true;
    if (o.entries) out["entries"] = *o.entries;
    if (!o.epoch.empty()) out["epoch"] = o.epoch;
    return as_json(o.status, out);
}

response render_erased(const erased& e) {
    switch (e.is) {
        case erased::status::erased:
            return as_json(200, {{"erased", true}, {"fill_invalidated", e.fill}});
        case erased::status::absent:
            if (e.fill) return as_json(200, {{"erased", false}, {"fill_invalidated", true}});
            return problem(404, "no entry has this key");
        case erased::status::failed:
            break;
    }
    return problem(503, "the entry may still be there; the store could not be asked: " + e.why);
}

}  // namespace idem::gateway::admin
