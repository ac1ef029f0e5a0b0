#include "gateway/pipeline/identify.hpp"

#include <algorithm>
#include <vector>

#include "cache/request/encoding.hpp"
#include "cache/request/headers.hpp"
#include "upstream/dialect/batching.hpp"

namespace idem::gateway::pipeline {

cache::plain_body identifier::decode(const upstream::http::request_head& head, std::string_view body,
                                     std::uint64_t decoded_cap) {
    // Several lines are one list (RFC 9110 section 5.3), and a list of codings is not undone.
    if (head.headers.count("content-encoding") > 1) return {.why = reason::body_encoding};
    return cache::decode_body(head.headers.find("content-encoding").value_or(""), body,
                              static_cast<std::size_t>(decoded_cap), decoded_);
}

namespace {

// Of a body that was decoded, whose own bytes are few: decoded text, canonical text and its copy in order take 52 times
// them, this the rest of the 100. One member in three bytes is more than compressed text ever holds.
std::size_t notes_for(std::string_view sent, std::string_view plain) noexcept {
    if (sent.data() == plain.data()) return std::string_view::npos;
    return std::max(sent.size() / 3, cache::expansion_floor / 16);
}

// A policy that changes bodies holds the text some times more.
bool too_large_to_change(std::string_view sent, std::string_view plain) noexcept {
    constexpr std::size_t ratio = 4;
    return sent.data() != plain.data() && plain.size() > std::max(ratio * sent.size(), cache::expansion_floor);
}

digest treatment_of(const identity& id) {
    return id.route ? id.route->treatment->of(*id.api, id.weakened) : digest{};
}

}  // namespace

// What chooses the form of an answer is in no key.
void identifier::take_canonical(identity& id, std::string_view text) {
    id.canonical = text;
    if (auto rest = id.api->without_form(id.canonical)) {
        reduced_ = std::move(*rest);
        id.canonical = reduced_;
    }
}

// Fills in the dialect, what it reads and the canonical form, as far as the body lets it.
std::string_view identifier::read(identity& id, const upstream::http::request_head& head, std::string_view body,
                                  std::uint64_t decoded_cap, const plan* routes) {
    const cache::target_parts target = cache::split_target(head.target);
    id.api = upstream::dialect::find(head.method, target.path);
    if (!id.api) {
        id.refuse = reason::not_cacheable_path;
        return {};
    }
    const cache::plain_body plain = decode(head, body, decoded_cap);
    if (plain.why == reason::none && id.api->shares_path()) {
        const std::string model = id.api->read(plain.text).model;
        const route_plan* route =
            routes ? routes->match({target.path, model, id.api, plain.text}, head.headers) : nullptr;
        id.api = &id.api->meant(route ? route->upstream->native_engine : std::string_view{}, plain.text);
    }
    if (id.api->minds_content_type() && !cache::json_content(head.headers)) {
        id.refuse = reason::content_type;
        return {};
    }
    if (plain.why != reason::none) {
        id.refuse = plain.why;
        return {};
    }
    const cache::canonical_form form =
        canonicalizer_.canonicalize(plain.text, id.api->rules(), notes_for(body, plain.text));
    if (form.why != reason::none) {
        id.refuse = form.why;
        return {};
    }
    if (auto meant = id.api->without_nonces(form.text)) {
        reduced_ = std::move(*meant);
        take_canonical(id, reduced_);
    } else {
        take_canonical(id, form.text);
    }
    id.call = id.api->read(plain.text);
    id.api->read_target(id.call, target.path, target.query);  // names the model by which the route is chosen
    return plain.text;
}

// The policy's changes come before everything that is read off a body: only the route is known by the body as it came.
void identifier::change(identity& id, std::string_view body) {
    changed_body changed = id.route->treatment->changes().apply(tools_, *id.api, body);
    id.conflicts = std::move(changed.conflicts);
    id.refused = changed.refused;
    id.weakened = changed.weakened;
    if (!changed.text) return;
    changed_ = std::move(*changed.text);
    id.changed = changed_;
    const cache::canonical_form form = canonicalizer_.canonicalize(changed_, id.api->rules());
    id.refuse = form.why;
    if (form.why == reason::none) {
        take_canonical(id, form.text);
    } else {
        id.canonical = {};
    }
    std::string control = std::move(id.call.cache_control);
    id.call = id.api->read(changed_);
    id.call.cache_control = std::move(control);
}

identity identifier::identify(const upstream::http::request_head& head, std::string_view body, std::uint32_t sample,
                              std::uint64_t decoded_cap, const plan* routes, std::string_view policy) {
    identity id;
    const std::string_view plain = read(id, head, body, decoded_cap, routes);
    const cache::target_parts target = cache::split_target(head.target);
    if (routes) {
        const auto* found = upstream::dialect::find(head.method, target.path);
        id.route = routes->match({target.path, id.call.model, found, plain}, head.headers);
    }
    if (id.route && !policy.empty()) {
        const route_plan* asked = routes->under(*id.route, policy);
        id.policy_unknown = !asked;
        if (asked) id.route = asked;
    }
    std::string_view path = target.path;
    if (id.route && id.api && id.route->treatment->renames()) {
        if (auto renamed = id.api->with_model(path, id.route->settings->rename)) {
            id.target = *renamed + std::string(head.target.substr(path.size()));
            path_ = std::move(*renamed);
            path = path_;
        }
    }
    if (id.route && !plain.empty() && !id.route->policy->bypass && id.route->treatment->changes().asked_for()) {
        if (too_large_to_change(body, plain)) {
            id.refuse = reason::body_encoding;
        } else {
            change(id, plain);
        }
    }
    if (id.api && !plain.empty()) id.api->read_target(id.call, path, target.query);
    if (id.refuse == reason::none && id.call.bypass) id.refuse = *id.call.bypass;
    if (!id.api || id.canonical.empty()) return id;
    query_ = cache::normalise_query(target.query, id.api->form_parameters());
    parts_.dialect = id.api->name();
    parts_.method = head.method;
    parts_.path = id.api->digest_path(path);
    parts_.query = query_;
    parts_.headers = cache::digest_headers(head.headers, id.api->digest_headers());
    parts_.sample = sample;
    parts_.body = id.canonical;
    return id;
}

digest identifier::digest_of(const identity& id) {
    return digest_of(id, treatment_of(id));
}

digest identifier::digest_of(const identity& id, const digest& treatment) {
    parts_.body = id.canonical;
    parts_.treatment = treatment;
    return cache::request_digest(parts_);
}

std::vector<item_identity> identifier::items_of(const identity& id) {
    std::vector<item_identity> out;
    const upstream::dialect::batching* by = id.api->batches();
    if (!by) return out;
    const std::vector<std::string_view> items = by->items(id.canonical);
    if (items.empty()) return out;
    const std::string rest = by->without_items(id.canonical);
    parts_.body = rest;
    parts_.treatment = treatment_of(id);
    const std::vector<digest> digests = cache::item_digests(parts_, items);
    parts_.body = id.canonical;
    out.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        out.push_back({digests[i], rest.size() + items[i].size(), by->weight(items[i])});
    return out;
}

std::optional<std::string> identifier::forwarded(const upstream::http::request_head& head, std::string_view body,
                                                 std::uint64_t decoded_cap, const upstream::dialect::dialect& api,
                                                 const body_changes& changes, bool plain) {
    const cache::plain_body decoded = decode(head, body, decoded_cap);
    if (decoded.why != reason::none) return std::nullopt;
    auto changed = changes.apply(tools_, api, decoded.text).text;
    if (!changed && plain && decoded.text.data() != body.data()) changed = std::string(decoded.text);
    return changed;
}

bool eligible(const config::policy& policy, const upstream::dialect::call& call) noexcept {
    switch (policy.eligible) {
        case config::policy::eligibility::any:
            return true;
        case config::policy::eligibility::seeded:
            return call.seeded || call.greedy;
        case config::policy::eligibility::greedy:
            return call.greedy;
    }
    return false;
}

}  // namespace idem::gateway::pipeline
