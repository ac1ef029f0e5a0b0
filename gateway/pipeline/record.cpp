#include "gateway/pipeline/record.hpp"

#include <cstring>

#include "cache/policy/freshness.hpp"
#include "gateway/pipeline/receipt.hpp"

namespace idem::gateway::pipeline {

request_ids::request_ids() {
    const id128 seed = random_id();
    std::memcpy(&state_, seed.bytes.data(), sizeof state_);
}

request_ids::id request_ids::next() noexcept {
    // A Weyl sequence through splitmix64's finaliser (Steele et al., OOPSLA 2014): every value once before any repeats.
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    id out;
    std::memcpy(out.data(), "idem-", 5);
    std::array<std::uint8_t, 8> bytes;
    std::memcpy(bytes.data(), &z, sizeof z);
    to_hex(bytes, out.data() + 5);
    return out;
}

cache::unix_ms unix_ms_now() noexcept {
    return unix_us_now() / 1000;
}

std::int64_t unix_us_now() noexcept {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::uint32_t elapsed_us(net::time_point since, net::time_point now) noexcept {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now - since).count();
    return us < 0 ? 0 : us > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(us);
}

void report(services& at, const finished& f) {
    const net::time_point now = net::clock::now();
    const std::uint32_t took = elapsed_us(f.started, now);
    const std::uint32_t first = f.first_byte == net::time_point{} ? took : elapsed_us(f.started, f.first_byte);
    const std::string_view upstream =
        f.route ? std::string_view(f.route->upstream->settings->name) : std::string_view{};
    const std::string_view api = f.api ? f.api->name() : std::string_view("passthrough");
    const bool hit = f.what == outcome::hit;
    const bool counts_tokens = f.answer && f.answer->tokens;

    at.common.metrics.request(at.thread, {.dialect = api,
                                          .upstream = upstream,
                                          .status = f.status,
                                          .what = f.what,
                                          .why = f.why,
                                          .tier = f.tier,
                                          .duration_us = took,
                                          .ttfb_us = first,
                                          .tokens_in = counts_tokens ? f.answer->tokens->input : 0,
                                          .tokens_out = counts_tokens ? f.answer->tokens->output : 0,
                                          .saved_ms = hit && f.answer ? f.answer->upstream_ms : 0});
    record_serving(at, f);
    if (at.common.plan.settings().observe.access_log == config::observe::access::off) return;

    observe::access_record r;
    const std::int64_t wall = unix_us_now();
    r.unix_us = wall - took;
    r.request_id = f.request_id;
    r.client = f.client->address_text;
    r.method = f.method;
    r.path = f.target.substr(0, f.target.find('?'));
    r.dialect = api;
    r.model = f.model;
    r.upstream = upstream;
    r.replica = f.replica;
    if (f.route) {
        r.route = f.route->settings->name;
        r.policy = f.route->policy->settings->name;
    }
    r.status = f.status;
    r.stream = f.stream;
    r.aborted = f.aborted;
    r.what = f.what;
    r.why = f.why;
    r.tier = f.tier;
    char key[16];
    if (f.key) {
        to_hex(std::span(f.key->value.bytes).first(8), key);
        r.key_hex = {key, sizeof key};
    }
    if (hit && f.answer) r.age_s = cache::age_seconds(f.answer->created, wall / 1000);
    r.bytes_in = f.bytes_in;
    r.bytes_out = f.bytes_out;
    r.duration_us = took;
    r.ttfb_us = first;
    r.upstream_status = f.upstream_status;
    r.upstream_ms = f.upstream_ms;
    r.retries = f.retries;
    if (counts_tokens) {
        r.tokens_in = f.answer->tokens->input;
        r.tokens_out = f.answer->tokens->output;
    }
    at.common.access.log(at.thread, r);
}

std::uint64_t pending_lines::take() {
    if (free_.empty()) {
        slots_.emplace_back();
        return slots_.size() - 1;
    }
    const std::uint64_t i = free_.back();
    free_.pop_back();
    return i;
}

void pending_lines::give_back(std::uint64_t i) {
    (*this)[i].answer.reset();
    free_.push_back(i);
}

}  // namespace idem::gateway::pipeline
