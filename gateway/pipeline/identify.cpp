#include "gateway/pipeline/identify.hpp"

#include <array>

#include "cache/request/encoding.hpp"
#include "cache/request/headers.hpp"
#include "upstream/dialect/batching.hpp"

namespace idem::gateway::pipeline {

// Fills in the dialect, what it reads and the canonical form, as far as the body lets it.
void identifier::read(identity& id, const upstream::http::request_head& head, std::string_view body,
                      std::uint64_t decoded_cap, const plan* routes) {
    const cache::target_parts target = cache::split_target(head.target);
    id.api = upstream::dialect::find(head.method, target.path);
    if (!id.api) {
        id.refuse = reason::not_cacheable_path;
        return;
    }
    const cache::plain_body plain = cache::decode_body(head.headers.find("content-encoding").value_or(""), body,
                                                       static_cast<std::size_t>(decoded_cap), decoded_);
    if (plain.why == reason::none && id.api->shares_path()) {
        const std::string model = id.api->read(plain.text).model;
        const route_plan* route = routes ? routes->match(target.path, model, head.headers) : nullptr;
        id.api = &id.api->meant(route ? route->upstream->native_engine : std::string_view{}, plain.text);
    }
    if (id.api->minds_content_type() && !cache::json_content(head.headers)) {
        id.refuse = reason::content_type;
        return;
    }
    if (plain.why != reason::none) {
        id.refuse = plain.why;
        return;
    }
    const cache::canonical_form form = canonicalizer_.canonicalize(plain.text, id.api->rules());
    if (form.why != reason::none) {
        id.refuse = form.why;
        return;
    }
    id.canonical = form.text;
    if (auto rest = id.api->without_nonces(form.text)) {
        reduced_ = std::move(*rest);
        id.canonical = reduced_;
    }
    if (auto rest = id.api->without_form(id.canonical)) {
        reduced_ = std::move(*rest);
        id.canonical = reduced_;
    }
    id.call = id.api->read(plain.text);
    id.api->read_target(id.call, target.path, target.query);
    if (id.call.bypass) id.refuse = *id.call.bypass;
}

identity identifier::identify(const upstream::http::request_head& head, std::string_view body, std::uint32_t sample,
                              std::uint64_t decoded_cap, const plan* routes) {
    identity id;
    read(id, head, body, decoded_cap, routes);
    const cache::target_parts target = cache::split_target(head.target);
    if (routes) id.route = routes->match(target.path, id.call.model, head.headers);
    if (!id.api || id.canonical.empty()) return id;
    query_ = cache::normalise_query(target.query, id.api->form_parameters());
    parts_.dialect = id.api->name();
    parts_.method = head.method;
    parts_.path = id.api->digest_path(target.path);
    parts_.query = query_;
    parts_.headers = cache::digest_headers(head.headers, id.api->digest_headers());
    parts_.sample = sample;
    parts_.body = id.canonical;
    return id;
}

digest identifier::digest_of(const identity& id, const digest& treatment) {
    parts_.body = id.canonical;
    parts_.treatment = treatment;
    return cache::request_digest(parts_);
}

std::vector<item_identity> identifier::items_of(const identity& id, const digest& treatment) {
    std::vector<item_identity> out;
    const upstream::dialect::batching* by = id.api->batches();
    if (!by) return out;
    const std::vector<std::string_view> items = by->items(id.canonical);
    if (items.empty()) return out;
    const std::string rest = by->without_items(id.canonical);
    parts_.body = rest;
    parts_.treatment = treatment;
    const std::vector<digest> digests = cache::item_digests(parts_, items);
    parts_.body = id.canonical;
    out.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        out.push_back({digests[i], rest.size() + items[i].size(), by->weight(items[i])});
    return out;
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

digest treatment_of(const config::policy& policy) {
    // Relaxed changes nothing but usage, which reaches no answer's content: turning its injection on or off is the same
    // treatment and loses no entry.
    const std::array<std::string_view, 2> statements = {policy.base == "bypass" ? "policy:bypass" : "policy:relaxed",
                                                        "guarantee:none"};
    return cache::treatment_digest(statements);
}

}  // namespace idem::gateway::pipeline
