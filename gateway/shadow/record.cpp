#include "gateway/shadow/record.hpp"

#include <boost/json.hpp>

#include "cache/store/coordination.hpp"
#include "gateway/observe/access_line.hpp"

namespace idem::gateway::shadow {

namespace json = boost::json;
using determinism::shadow_book;
using determinism::shadow_divergence;
using determinism::shadow_result;

namespace {

constexpr std::int64_t format = 1;
constexpr std::int64_t latest = 253'402'300'799'000;  // the end of the year 9999, in milliseconds
constexpr std::int64_t most_counted = std::int64_t{1} << 40;

struct malformed {};

// Digests and texts, under one name each on the way out and on the way in.
template <class Divergence, class Visit>
void each_text(Divergence& d, Visit visit) {
    visit("model", d.model);
    visit("dialect", d.dialect);
    visit("policy", d.policy);
    visit("replica", d.replica);
    visit("replica_again", d.replica_again);
    visit("before", d.before);
    visit("stored_text", d.stored_text);
    visit("again_text", d.again_text);
    visit("blamed", d.blamed);
}
template <class Divergence, class Visit>
void each_digest(Divergence& d, Visit visit) {
    visit("request", d.request);
    visit("key", d.key);
    visit("stored", d.stored);
    visit("again", d.again);
    visit("environment", d.environment);
    visit("environment_again", d.environment_again);
}
template <class Divergence, class Visit>
void each_number(Divergence& d, Visit visit) {
    visit("at", d.at);
    visit("byte", d.byte);
    visit("character", d.character);
    visit("token", d.token);
}

json::object divergence_json(const shadow_divergence& d) {
    json::object o;
    each_number(d, [&](const char* name, const auto& v) { o[name] = v; });
    each_digest(d, [&](const char* name, const digest& v) { o[name] = to_hex(v.bytes); });
    each_text(d, [&](const char* name, const std::string& v) { o[name] = v; });
    o["epoch"] = to_hex(d.epoch.bytes);
    o["blame"] = to_string(d.cause);
    return o;
}

std::string_view text(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    if (!v || !v->is_string()) throw malformed{};
    return v->get_string();
}

template <class Number>
Number number(const json::object& o, std::string_view name) {
    const json::value* v = o.if_contains(name);
    boost::system::error_code ec;
    const Number n = v ? v->to_number<Number>(ec) : Number{};
    if (!v || ec) throw malformed{};
    return n;
}

template <class T>
T required(std::optional<T> v) {
    if (!v) throw malformed{};
    return *std::move(v);
}

const json::object& object(const json::value& v) {
    if (!v.is_object()) throw malformed{};
    return v.get_object();
}

// So far from the ends of its type that it can be added to and multiplied.
std::int64_t within(std::int64_t n, std::int64_t least, std::int64_t most) {
    if (n < least || n > most) throw malformed{};
    return n;
}

shadow_divergence divergence_of(const json::object& o) {
    shadow_divergence d;
    each_number(d, [&](const char* name, auto& v) { v = number<std::remove_reference_t<decltype(v)>>(o, name); });
    each_digest(d, [&](const char* name, digest& v) { v = required(digest_from_hex(text(o, name))); });
    each_text(d, [&](const char* name, std::string& v) { v = text(o, name); });
    d.at = within(d.at, 0, latest);
    d.epoch = required(id128_from_hex(text(o, "epoch")));
    d.cause = required(determinism::blame_from(text(o, "blame")));
    return d;
}

shadow_book book_of(const json::object& o) {
    shadow_book b;
    if (number<std::int64_t>(o, "format") != format) throw malformed{};
    const json::object& runs = object(o.at("runs"));
    for (std::size_t i = 0; i < determinism::shadow_results; ++i)
        b.totals[i] = number<std::uint64_t>(runs, to_string(static_cast<shadow_result>(i)));
    for (const auto& [name, each] : object(o.at("replicas"))) {
        const json::object& s = object(each);
        b.scores[std::string(name)] = {number<std::uint64_t>(s, "same"), number<std::uint64_t>(s, "diverged"),
                                       within(number<std::int64_t>(s, "counted"), -most_counted, most_counted)};
    }
    b.seen = number<std::uint64_t>(o, "seen");
    if (!o.at("divergences").is_array()) throw malformed{};
    for (const json::value& each : o.at("divergences").get_array())
        b.divergences.push_back(divergence_of(object(each)));
    return b;
}

json::object runs_json(const shadow_book& b) {
    json::object runs;
    for (std::size_t i = 0; i < determinism::shadow_results; ++i)
        runs[to_string(static_cast<shadow_result>(i))] = b.totals[i];
    return runs;
}

}  // namespace

std::string record_name(std::string_view upstream) {
    return "shadow/" + std::string(upstream);
}

std::string encode(const shadow_book& b) {
    json::object replicas;
    for (const auto& [name, s] : b.scores)
        replicas[name] = json::object{{"same", s.same}, {"diverged", s.diverged}, {"counted", s.counted}};
    json::array kept;
    for (const shadow_divergence& d : b.divergences) kept.push_back(divergence_json(d));
    json::object o{{"format", format}, {"runs", runs_json(b)}, {"replicas", std::move(replicas)}, {"seen", b.seen}};
    for (;;) {
        o["divergences"] = kept;
        std::string text = json::serialize(o);
        if (text.size() <= cache::longest_record || kept.empty()) return text;
        kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>((kept.size() + 1) / 2));
    }
}

std::optional<shadow_book> decode(std::string_view from) {
    boost::system::error_code ec;
    json::parse_options lenient;
    lenient.allow_invalid_utf8 = true;  // counts are not lost for what somebody's text looked like
    const json::value top = json::parse(from, ec, {}, lenient);
    if (ec || !top.is_object()) return std::nullopt;
    const json::object& o = top.get_object();
    for (const char* name : {"runs", "replicas", "divergences"})
        if (!o.contains(name)) return std::nullopt;
    try {
        return book_of(o);
    } catch (const malformed&) {
        return std::nullopt;
    }
}

json::object shown(const shadow_divergence& d) {
    std::string time;
    observe::clock_text clock;
    observe::append_time(time, d.at * 1000, clock);
    json::object o{{"at", time},
                   {"blame", to_string(d.cause)},
                   {"blamed", d.blamed.empty() ? json::value() : json::value(d.blamed)},
                   {"request", to_hex(d.request.bytes)},
                   {"key", to_hex(d.key.bytes)},
                   {"epoch", to_hex(d.epoch.bytes)},
                   {"model", d.model},
                   {"dialect", d.dialect},
                   {"policy", d.policy}};
    o["stored"] = json::object{
        {"digest", to_hex(d.stored.bytes)}, {"replica", d.replica}, {"environment", to_hex(d.environment.bytes)}};
    o["again"] = json::object{{"digest", to_hex(d.again.bytes)},
                              {"replica", d.replica_again},
                              {"environment", to_hex(d.environment_again.bytes)}};
    json::object first{{"byte", d.byte}, {"character", d.character}, {"token", d.token}};
    if (!d.stored_text.empty() || !d.again_text.empty()) {
        first["before"] = d.before;
        first["stored"] = d.stored_text;
        first["again"] = d.again_text;
    }
    o["first_difference"] = std::move(first);
    return o;
}

json::object summary(const shadow_book& b) {
    json::array replicas;
    for (const auto& [name, s] : b.scores) {
        const auto share = s.share();
        replicas.push_back(json::object{{"id", name},
                                        {"same", s.same},
                                        {"diverged", s.diverged},
                                        {"score", share ? json::value(*share) : json::value()},
                                        {"blamed", s.counted}});
    }
    return {{"runs", runs_json(b)}, {"divergences", b.seen}, {"replicas", std::move(replicas)}};
}

}  // namespace idem::gateway::shadow
