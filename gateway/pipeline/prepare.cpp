#include "gateway/pipeline/prepare.hpp"

#include <algorithm>
#include <cstring>

#include "cache/policy/body_controls.hpp"
#include "cache/request/headers.hpp"
#include "gateway/pipeline/forward.hpp"
#include "gateway/pipeline/pin.hpp"

namespace idem::gateway::pipeline {

using upstream::http::iequals;

namespace {

constexpr std::size_t memo_bytes = 8u << 20;  // a thread

// Always compared by the memo, in this order behind the request line and the client's certificate.
constexpr std::string_view remembered_fields[] = {
    "authorization",          "x-api-key",           "api-key",
    "x-goog-api-key",         "openai-organization", "openai-project",
    "anthropic-version",      "anthropic-beta",      "openai-beta",
    "anthropic-workspace-id", "content-type",        "anthropic-user-profile-id"};

// Fields whose meaning is worked out anew each time; a request with one is not remembered.
bool asks_for_thought(std::string_view name) noexcept {
    return iequals(name, "cache-control") || iequals(name, "content-encoding") || iequals(name, "via") ||
           iequals(name, "idempotency-key") || iequals(name, "origin") || cache::control_field(name);
}

// What a body hides that cannot be read.
bool unreadable(reason why) noexcept {
    return why == reason::content_type || why == reason::body_too_large;
}

std::string named(std::span<const cache::conflict> conflicts) {
    std::string out;
    for (const cache::conflict& c : conflicts) {
        if (!out.empty()) out += "; ";
        out.append(c.field).append(" is ").append(c.value).append(", expected ").append(c.expected);
    }
    return out;
}

void refuse(prepared& p, reason why, std::string detail) {
    p.what = prepared::kind::refuse;
    p.why = why;
    p.status = status_of(why);
    p.detail = std::move(detail);
}

bool malformed(reason why) noexcept {
    switch (why) {
        case reason::body_not_json:
        case reason::body_invalid_utf8:
        case reason::body_duplicate_key:
        case reason::body_too_deep:
        case reason::body_number_range:
        case reason::body_encoding:
            return true;
        default:
            return false;
    }
}

}  // namespace

bool prepared::satisfied_by(const cache::entry& e, std::int64_t now_ms) const noexcept {
    return cache::judge(e.created, e.fresh_until, e.keep_until, controls, now_ms) == cache::freshness::fresh;
}

account prepared::account_of_hit(const cache::entry& e, std::int64_t now_ms, std::string_view tier,
                                 std::string_view request_id, std::string_view via) const {
    account a = account_of(e, now_ms);
    a.what = outcome::hit;
    a.tier = tier;
    a.epoch = &epoch;
    a.request_id = request_id;
    a.id_field = api->request_id_field();
    a.via = via;
    if (cors) a.cors = *cors;
    return a;
}

bool prepared::readable() const noexcept {
    return keep_out != reason::origin_unknown || controls.only_if_cached;
}

bool prepared::looks_up() const noexcept {
    return refresh == reason::none && (items ? readable() : keep_out == reason::none);
}

bool prepared::holds_too_old(cache::memory_store& memory, std::int64_t now_ms) const {
    if (!items || !controls.max_age) return false;
    return std::ranges::any_of(items->items, [&](const item& i) {
        const cache::entry_ptr e = memory.find(i.key, now_ms);
        return e && !satisfied_by(*e, now_ms);
    });
}

bool prepared::lone() const noexcept {
    return refresh != reason::none || keep_out != reason::none || (items && controls.only_if_cached);
}

asked prepared::as_asked() const {
    return {route, api, call, request, pin, key, canonical_size, epoch, keep_out, refresh, beside, ban, weakened};
}

cache::ban_subject prepared::subject(std::span<const std::string> tags) const noexcept {
    cache::ban_subject s;
    s.key = key;
    s.tags = tags;
    s.model = call.model;
    s.route = route->settings->name;
    s.upstream = route->upstream->settings->name;
    s.scope = scope_tag;
    s.created = unix_ms_now();
    s.mark = ban;
    return s;
}

void prepared::stand_beside(const cache::entry& first) {
    beside = first.output;
    key = cache::key_beside(key, wants.form);
}

preparer::preparer(const shared& common)
    : common_(common), epochs_(common.epochs), memo_(memo_bytes, [] {
          std::uint64_t seed;
          const id128 random = random_id();
          std::memcpy(&seed, random.bytes.data(), sizeof seed);
          return seed;
      }()) {
    auto look_at = [this](const std::string& name) {
        auto same = [&](std::string_view known) { return iequals(known, name); };
        if (std::ranges::none_of(remembered_fields, same) && std::ranges::none_of(route_fields_, same))
            route_fields_.push_back(name);
    };
    for (const config::route& r : common.plan.settings().routes) {
        for (const auto& [name, pattern] : r.headers) look_at(name);
    }
    if (common.scope.mode == cache::scope_mode::header) look_at(common.scope.header);
    parts_.resize(3 + std::size(remembered_fields) + route_fields_.size());
}

doorkeeping preparer::admit(const http::request_head& head, const http::peer&) const {
    if (loops(head.headers, common_.via)) return {reason::loop_detected, {}};
    if (common_.clients && !common_.clients->authenticate(head.headers, cache::split_target(head.target).query))
        return {reason::unauthorized, {}};
    return {};
}

// Fills parts_ with what the memo compares. False: this request cannot be remembered.
bool preparer::collect(const http::request_head& head, const http::peer& client) {
    // The address matters only where trust hangs on it.
    if (common_.scope.mode == cache::scope_mode::header) return false;
    std::ranges::fill(parts_, std::string_view{});
    parts_[0] = head.method;
    parts_[1] = head.target;
    parts_[2] = client.certificate;
    for (const auto [name, value] : head.headers) {
        std::size_t at = 3;
        bool known = false;
        for (std::string_view wanted : remembered_fields) {
            if (iequals(wanted, name)) {
                known = true;
                break;
            }
            ++at;
        }
        if (!known) {
            at = 3 + std::size(remembered_fields);
            for (const std::string& wanted : route_fields_) {
                if (iequals(wanted, name)) {
                    known = true;
                    break;
                }
                ++at;
            }
        }
        if (!known) {
            if (asks_for_thought(name)) return false;
            continue;
        }
        if (parts_[at].data()) return false;  // sent twice: rare, and its meaning is the scope's business
        parts_[at] = value;
    }
    return true;
}

const prepared& preparer::prepare(const http::request_head& head, std::string_view body, const http::peer& client) {
    const std::uint64_t generation = epochs_.refresh();
    if (generation != epochs_seen_) {
        memo_.clear();
        epochs_seen_ = generation;
    }
    rememberable_ = false;
    const bool comparable = body.size() <= cache::memo_body_cap && collect(head, client);
    if (comparable) {
        if (const prepared* known = memo_.find(parts_, body)) {
            const upstream_health& health = *common_.health[known->route->upstream->index];
            if (!health.refused_somebody.load(std::memory_order_relaxed)) return *known;
        }
    }
    scratch_ = prepared{};
    work_out(scratch_, head, body, client);
    rememberable_ = comparable && scratch_.what == prepared::kind::call && !scratch_.checks_proof;
    return scratch_;
}

prepared preparer::take(const prepared& last) {
    if (&last != &scratch_) return last;  // the memo's own
    rememberable_ = false;
    return std::move(scratch_);
}

// Only after a hit: what comes once and never again would push out what comes often.
void preparer::remember(std::string_view body) {
    if (std::exchange(rememberable_, false)) memo_.insert(parts_, body, scratch_);
}

std::shared_ptr<const std::string> preparer::cors_of(const http::request_head& head, const route_plan* route) const {
    const auto origin = head.headers.find("origin");
    if (!origin || !route) return nullptr;
    return common_.health[route->upstream->index]->origins.find(*origin);
}

// Where answers are shared beyond one credential, only the upstream can say whether a credential is good; and one that
// it has refused gets nothing from the cache until it succeeds again.
void preparer::judge_proof(prepared& p, const cache::scope& s) const {
    const upstream_plan& to = *p.route->upstream;
    if (to.settings->own_credential()) return;  // callers' credentials do not go there
    const upstream_health& health = *common_.health[to.index];
    const bool wide =
        common_.scope.mode == cache::scope_mode::shared || common_.scope.mode == cache::scope_mode::header;
    if (wide && !s.anonymous) {
        p.checks_proof = p.proves = true;
        if (!health.proofs.proven(s.credential, net::clock::now())) {
            p.what = prepared::kind::proxy;
            p.why = reason::credential_unproven;
        }
    } else if (health.refused_somebody.load(std::memory_order_relaxed) && health.proofs.closed(s.credential)) {
        p.checks_proof = true;
        p.what = prepared::kind::proxy;
        p.why = reason::credential_unproven;
    }
}

// A call for one thing is that thing's, whether it is written as a list or not.
void preparer::read_items(prepared& p, const identity& id, cache::key_parts whose) {
    const std::vector<item_identity> each = identifier_.items_of(id);
    if (each.empty()) return;
    if (each.size() == 1) {
        p.request = each.front().request;
        p.canonical_size = each.front().canonical_size;
        return;
    }
    std::vector<cache::cache_key> keys;
    keys.reserve(each.size());
    for (const item_identity& i : each) {
        whose.request = i.request;
        keys.push_back(cache::make_key(whose));
    }
    p.items = std::make_shared<const item_batch>(batch_of(*p.api->batches(), each, keys));
}

// What the route's policy says of the call, whether it can be cached or not.
bool preparer::keep_policy(prepared& p, const identity& id) const {
    const config::policy& policy = *p.route->policy->settings;
    const std::string name = "the policy \"" + std::string(p.route->asked) + "\"";
    if (id.policy_unknown) {
        // Strict has to be made room for: see plan.cpp.
        const bool room = p.controls.policy != "strict" ||
                          p.route->upstream->concurrency.mode != config::concurrency::rule::unlimited;
        refuse(p, reason::bad_control,
               "Idem-Policy: this route answers under " + name +
                   " and does not offer the one asked for; it has: " + common_.plan.offered(*p.route) +
                   (room ? "" : "; strict is offered where the upstream sets concurrency.mode"));
        return false;
    }
    p.held_to_rules = p.route->treatment->enforces(*p.api);
    if (!p.held_to_rules) return true;
    if (const reason why = p.route->treatment->refuses(*p.api); why != reason::none) {
        refuse(p, why,
               std::string(p.route->upstream->engine->name) + " has no deterministic form of " +
                   std::string(p.api->name()) + " calls, which " + name +
                   " asks for; it has one of: " + p.route->treatment->deterministic_forms());
        return false;
    }
    if (policy.base == "strict" && p.controls.sample > 0) {
        refuse(p, reason::bad_control, "Idem-Sample: under " + name + " a request has one answer; leave it out");
        return false;
    }
    if (id.refused) {
        refuse(p, reason::parameter_conflict, name + " fixes what this request sets otherwise: " + named(id.conflicts));
        return false;
    }
    if (malformed(id.refuse) || unreadable(id.refuse)) {
        refuse(p, id.refuse,
               name + " cannot hold a body to its rules that is not JSON with one meaning: " +
                   std::string(to_string(id.refuse)));
        return false;
    }
    p.weakened = id.weakened;
    return true;
}

void preparer::work_out(prepared& p, const http::request_head& head, std::string_view body, const http::peer& client) {
    const cache::target_parts target = cache::split_target(head.target);
    const cache::parsed_controls parsed = cache::parse_controls(head.headers);
    if (parsed.error) return refuse(p, reason::bad_control, parsed.error->message());
    p.controls = parsed.value;

    // The treatment is the policy's, the policy the route's, and the route may depend on the model: so the body is read
    // once for all routes' sake before its digest is made.
    identity id = identifier_.identify(head, body, p.controls.sample, common_.plan.settings().listen.body,
                                       &common_.plan, p.controls.policy);
    p.api = id.api;
    p.call = std::move(id.call);
    p.wants = {p.call.wanted, p.call.usage_asked};
    p.route = id.route;
    p.target = std::move(id.target);
    if (!p.route) return refuse(p, reason::no_route, {});
    const cache::parsed_body_controls in_body = cache::parse_body_controls(p.call.cache_control);
    if (in_body.error) return refuse(p, reason::bad_control, in_body.error->message());
    p.body_differs = !std::exchange(p.call.cache_control, {}).empty() || p.route->treatment->renames();
    cache::add(p.controls, in_body.value);
    if (p.route->offline) p.controls.only_if_cached = true;
    if (!keep_policy(p, id)) return;
    const config::policy& policy = *p.route->policy->settings;
    const cache::epoch_record* epoch = epochs_.get(p.route->upstream->index);
    if (epoch) p.epoch = *epoch;
    if (p.held_to_rules) {
        p.body_differs = true;
        p.request = identifier_.digest_of(id);
    }
    if (id.refuse != reason::none) {
        if (policy.reject_malformed && malformed(id.refuse))
            return refuse(p, id.refuse,
                          "the request body is not JSON that has one meaning: " + std::string(to_string(id.refuse)));
        p.why = id.refuse;
        return;
    }
    if (p.route->policy->bypass) {
        p.why = reason::policy_bypass;
        return;
    }
    if (!eligible(policy, p.call)) {
        p.why = reason::not_eligible;
        return;
    }
    if (!epoch) {
        const bool barred = common_.epochs.trouble(p.route->upstream->index) == reason::secret_mismatch;
        p.why = barred ? reason::secret_mismatch : reason::state_unknown;
        return;
    }
    const cache::scope s = scope_of(head, client, target.query, p.call.tenant);
    if (s.why == reason::unauthorized) return refuse(p, s.why, {});
    if (s.why != reason::none) {
        p.why = s.why;
        return;
    }
    p.what = prepared::kind::call;
    p.body_differs = p.body_differs || id.changed;
    p.credential = s.credential;
    p.scope_tag = to_hex(std::span(s.value.bytes).first(8));
    p.request = identifier_.digest_of(id);
    p.canonical_size = id.canonical.size();
    const std::string_view name_space =
        p.controls.name_space.empty() ? std::string_view(in_body.value.name_space) : p.controls.name_space;
    cache::key_parts whose{p.request,  s.value,
                           name_space, p.route->upstream->settings->name,
                           p.epoch.id, common_.plan.settings().cache.key_secret};
    if (policy.items == config::policy::item_rule::batch) read_items(p, id, whose);
    whose.request = p.request;
    p.pin = pin_of(p.route->upstream->settings->pin_by, p.request, p.api->name(), p.call.model, id.canonical);
    p.key = cache::make_key(whose);
    if (!p.controls.idempotency_key.empty())
        p.idempotency = cache::idempotency_name(p.controls.idempotency_key, s.value, p.route->settings->name);
    if (p.controls.no_store) p.keep_out = reason::no_store_request;
    p.cors = cors_of(head, p.route);
    if (!p.cors && head.headers.find("origin")) p.keep_out = reason::origin_unknown;
    if (p.controls.no_cache) p.refresh = reason::no_cache_request;
    if (!p.route->offline) judge_proof(p, s);  // who could be asked is not asked
}

std::optional<std::string> preparer::forwarded(const prepared& p, const http::request_head& head,
                                               std::string_view body) {
    if (!p.body_differs) return std::nullopt;
    const treatment& done = *p.route->treatment;
    const bool treated = p.what == prepared::kind::call || p.held_to_rules;
    const bool adds = p.held_to_rules && done.adds_when_sent(*p.api);
    auto out = identifier_.forwarded(head, body, common_.plan.settings().listen.body, *p.api,
                                     treated ? done.changes() : done.least(), adds);
    if (adds) out = done.as_sent(out ? std::move(*out) : std::string(body), *p.api, p.request, random_id());
    return out;
}

}  // namespace idem::gateway::pipeline
