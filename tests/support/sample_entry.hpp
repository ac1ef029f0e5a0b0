#pragma once
// Entries for tests: every field set, so that a field that is lost on the way shows.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "cache/entry/entry.hpp"

namespace idem::test {

inline cache::cache_key sample_key(std::string_view name) {
    return {sha256(name)};
}

inline id128 sample_id(std::string_view name) {
    id128 id;
    const digest d = sha256(name);
    std::copy_n(d.bytes.begin(), id.bytes.size(), id.bytes.begin());
    return id;
}

/// A live entry from `created` to `created + 1 h`, kept for 2 h. Its fill id follows from name and body.
inline cache::entry sample_entry(std::string_view name, std::string body = "{\"answer\":42}",
                                 cache::unix_ms created = 1000) {
    cache::entry e;
    e.key = sample_key(name);
    e.request = sha256("request of " + std::string(name));
    e.canonical_size = 123;
    e.fill = sample_id(std::string(name) + body);
    e.ban = sample_id("ban");
    e.epoch = sample_id("epoch");
    e.environment = sha256("environment");
    e.promise = {upstream::determinism::level::replica, upstream::determinism::isolation::serial, 9};
    e.created = created;
    e.fresh_until = created + 3'600'000;
    e.keep_until = created + 7'200'000;
    e.form = upstream::dialect::form::sse;
    e.dialect = "openai.chat";
    e.model = "qwen3";
    e.upstream = "default";
    e.replica = "a";
    e.route = "0";
    e.scope_tag = "0123456789abcdef";
    e.tags = {"audit", "ci"};
    e.content_type = "text/event-stream; charset=utf-8";
    e.headers = {{"openai-version", "2020-10-01"}, {"x-model", ""}};
    e.origin_request_id = "req_1";
    e.output = sha256("output");
    e.tokens = upstream::dialect::usage{11, 22};
    e.usage_event = upstream::dialect::byte_range{0, body.size() / 2};
    e.upstream_ms = 777;
    e.length_limited = true;
    e.body = std::move(body);
    return e;
}

inline cache::entry_ptr sample(std::string_view name, std::string body = "{\"answer\":42}",
                               cache::unix_ms created = 1000) {
    return std::make_shared<const cache::entry>(sample_entry(name, std::move(body), created));
}

inline bool same(const cache::entry& a, const cache::entry& b) {
    const auto usage = [](const cache::entry& e) {
        const auto u = e.tokens.value_or(upstream::dialect::usage{});
        return std::tuple(e.tokens.has_value(), u.input, u.output);
    };
    const auto range = [](const cache::entry& e) {
        const auto r = e.usage_event.value_or(upstream::dialect::byte_range{});
        return std::tuple(e.usage_event.has_value(), r.offset, r.size);
    };
    return a.key == b.key && a.request == b.request && a.canonical_size == b.canonical_size && a.fill == b.fill &&
           a.ban == b.ban && a.epoch == b.epoch && a.environment == b.environment && a.created == b.created &&
           a.fresh_until == b.fresh_until && a.keep_until == b.keep_until && a.form == b.form &&
           a.dialect == b.dialect && a.model == b.model && a.upstream == b.upstream && a.replica == b.replica &&
           a.route == b.route && a.scope_tag == b.scope_tag && a.tags == b.tags && a.content_type == b.content_type &&
           a.headers == b.headers && a.origin_request_id == b.origin_request_id && a.output == b.output &&
           usage(a) == usage(b) && range(a) == range(b) && a.upstream_ms == b.upstream_ms &&
           a.length_limited == b.length_limited && a.promise == b.promise && a.body == b.body;
}

}  // namespace idem::test
