#include "gateway/replicas/records.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

namespace idem::gateway::replicas {

namespace json = boost::json;
using determinism::golden_output;

namespace {

constexpr std::int64_t format = 1;
constexpr std::array<std::string_view, 7> wish_words = {"quarantine", "drain",   "readmit", "attest",
                                                        "record",     "suspect", "diverged"};

std::string joined(std::string_view kind, std::string_view upstream, std::string_view replica) {
    return std::string(kind) + "/" + std::string(upstream) + "/" + std::string(replica);
}

json::array outputs_json(const std::vector<golden_output>& outputs) {
    json::array out;
    for (const golden_output& o : outputs)
        out.push_back(json::object{{"output", to_hex(o.output.bytes)}, {"prompt_tokens", o.prompt_tokens}});
    return out;
}

json::array facts_json(const determinism::environment& e) {
    json::array out;
    for (const determinism::fact& f : e.facts()) out.push_back(json::array{f.name, f.value, to_string(f.from)});
    return out;
}

// What does not have the expected form makes the whole record absent.
struct malformed {};

const json::value& member(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    if (!v) throw malformed{};
    return *v;
}

std::string text(const json::value& v) {
    if (!v.is_string()) throw malformed{};
    return std::string(v.get_string());
}

template <class Number>
Number number(const json::value& v) {
    boost::system::error_code ec;
    const auto n = v.to_number<Number>(ec);
    if (ec) throw malformed{};
    return n;
}

template <class T>
T required(std::optional<T> v) {
    if (!v) throw malformed{};
    return *std::move(v);
}

std::vector<golden_output> outputs_of(const json::value& v) {
    if (!v.is_array()) throw malformed{};
    std::vector<golden_output> out;
    for (const json::value& each : v.get_array()) {
        if (!each.is_object()) throw malformed{};
        out.push_back({required(digest_from_hex(text(member(each.get_object(), "output")))),
                       number<std::uint64_t>(member(each.get_object(), "prompt_tokens"))});
    }
    return out;
}

std::shared_ptr<const determinism::environment> facts_of(const json::value& v) {
    if (v.is_null()) return nullptr;
    if (!v.is_array()) throw malformed{};
    using determinism::provenance;
    auto made = std::make_shared<determinism::environment>();
    for (const json::value& each : v.get_array()) {
        if (!each.is_array() || each.get_array().size() != 3) throw malformed{};
        const json::array& f = each.get_array();
        const std::string from = text(f[2]);
        constexpr std::array all = {provenance::measured, provenance::reported, provenance::declared,
                                    provenance::unknown};
        const auto* const known = std::ranges::find(all, from, [](provenance p) { return to_string(p); });
        if (known == all.end()) throw malformed{};
        made->add({text(f[0]), text(f[1]), *known});
    }
    return made;
}

// `read` on the object that `from` is, of our format.
template <class T, class Read>
std::optional<T> parsed(std::string_view from, Read read) {
    boost::system::error_code ec;
    const json::value top = json::parse(from, ec);
    if (ec || !top.is_object()) return std::nullopt;
    try {
        const json::object& o = top.get_object();
        if (number<std::int64_t>(member(o, "format")) != format) return std::nullopt;
        return read(o);
    } catch (const malformed&) {
        return std::nullopt;
    }
}

}  // namespace

std::string replica_name(std::string_view upstream, std::string_view replica) {
    return joined("replica", upstream, replica);
}

std::string order_name(std::string_view upstream, std::string_view replica) {
    return joined("order", upstream, replica);
}

std::string reference_name(std::string_view upstream) {
    return "reference/" + std::string(upstream);
}

std::string attest_lease(std::string_view upstream, std::string_view replica) {
    return joined("attest", upstream, replica);
}

std::string encode(const finding& f) {
    const determinism::condition& c = f.now;
    return json::serialize(json::object{{"format", format},
                                        {"state", to_string(c.state)},
                                        {"why", to_string(c.why)},
                                        {"detail", c.detail},
                                        {"runs", c.runs},
                                        {"diverging", c.diverging},
                                        {"fingerprint", c.fingerprint},
                                        {"since", c.since},
                                        {"environment", to_hex(c.environment.bytes)},
                                        {"facts", c.facts ? json::value(facts_json(*c.facts)) : json::value()},
                                        {"outputs", outputs_json(f.outputs)},
                                        {"orders_done", f.orders_done},
                                        {"checked", f.checked}});
}

std::optional<finding> decode_finding(std::string_view from) {
    return parsed<finding>(from, [](const json::object& o) {
        finding f;
        determinism::condition& c = f.now;
        c.state = required(determinism::state_from(text(member(o, "state"))));
        c.why = required(determinism::cause_from(text(member(o, "why"))));
        c.detail = text(member(o, "detail"));
        c.runs = number<std::uint32_t>(member(o, "runs"));
        const json::value& diverging = member(o, "diverging");
        if (!diverging.is_bool()) throw malformed{};
        c.diverging = diverging.get_bool();
        c.fingerprint = text(member(o, "fingerprint"));
        c.since = number<std::int64_t>(member(o, "since"));
        c.environment = required(digest_from_hex(text(member(o, "environment"))));
        c.facts = facts_of(member(o, "facts"));
        f.outputs = outputs_of(member(o, "outputs"));
        f.orders_done = number<std::uint64_t>(member(o, "orders_done"));
        f.checked = number<std::int64_t>(member(o, "checked"));
        return f;
    });
}

std::string_view to_string(wish::what w) noexcept {
    return wish_words[static_cast<std::size_t>(w)];
}

std::optional<wish::what> wish_from(std::string_view word) noexcept {
    const auto* const at = std::ranges::find(wish_words, word);
    if (at == wish_words.end()) return std::nullopt;
    return static_cast<wish::what>(at - wish_words.begin());
}

std::string encode(const wish& w) {
    return json::serialize(json::object{{"format", format}, {"wish", to_string(w.is)}, {"number", w.number}});
}

std::optional<wish> decode_wish(std::string_view from) {
    return parsed<wish>(from, [](const json::object& o) {
        return wish{required(wish_from(text(member(o, "wish")))), number<std::uint64_t>(member(o, "number"))};
    });
}

std::string encode(const determinism::reference& r) {
    return json::serialize(json::object{{"format", format},
                                        {"epoch", to_hex(r.epoch.bytes)},
                                        {"prompts", to_hex(r.prompts.bytes)},
                                        {"outputs", outputs_json(r.outputs)},
                                        {"set_by", r.set_by},
                                        {"fingerprint", r.fingerprint}});
}

std::optional<determinism::reference> decode_reference(std::string_view from) {
    return parsed<determinism::reference>(from, [](const json::object& o) {
        determinism::reference r;
        r.epoch = required(id128_from_hex(text(member(o, "epoch"))));
        r.prompts = required(digest_from_hex(text(member(o, "prompts"))));
        r.outputs = outputs_of(member(o, "outputs"));
        r.set_by = text(member(o, "set_by"));
        if (const json::value* print = o.if_contains("fingerprint")) r.fingerprint = text(*print);
        return r;
    });
}

}  // namespace idem::gateway::replicas
