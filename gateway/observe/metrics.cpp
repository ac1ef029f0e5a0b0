#include "gateway/observe/metrics.hpp"

#include "gateway/observe/metrics_impl.hpp"

namespace idem::gateway::observe {

using detail::family;
using detail::pack;
using detail::shard;

namespace {

std::uint8_t number(reason r) noexcept {
    return static_cast<std::uint8_t>(r);
}

bool spared_the_upstream(outcome o) noexcept {
    return o == outcome::hit || o == outcome::stale || o == outcome::semantic || o == outcome::coalesced;
}

}  // namespace

metrics::metrics(unsigned threads) : impl_(std::make_unique<impl>(threads)) {}
metrics::~metrics() = default;

void metrics::request(unsigned thread, const request_sample& s) noexcept {
    impl_->on_shard(thread, [&](shard& h) {
        const auto what = static_cast<std::size_t>(s.what);
        h.by_outcome[what].add(1);
        h.duration[what].observe(s.duration_us);
        h.first_byte[what].observe(s.ttfb_us);
        h.cells.add(pack(family::requests, h.apis.number(s.dialect), h.upstreams.number(s.upstream),
                         detail::code_number(s.status), static_cast<std::uint8_t>(what + 1)));
        if (s.why != reason::none) {
            h.by_reason[static_cast<std::size_t>(s.why)].add(1);
            if (s.what == outcome::bypass) h.cells.add(pack(family::bypass, number(s.why)));
        }
        if (s.what == outcome::hit) h.cells.add(pack(family::hits, h.tiers.number(s.tier)));
        if (spared_the_upstream(s.what)) {
            h.saved_in.add(s.tokens_in);
            h.saved_out.add(s.tokens_out);
            h.saved_ms.add(s.saved_ms);
        }
    });
}

void metrics::upstream_request(unsigned thread, std::string_view upstream, unsigned status, std::uint32_t ms) noexcept {
    impl_->on_shard(thread, [&](shard& h) {
        const auto n = h.upstreams.number(upstream);
        h.cells.add(pack(family::upstream_calls, n, detail::code_number(status)));
        h.upstream_duration[n].observe(ms > 4'294'967 ? ~0u : ms * 1000);
    });
}

void metrics::upstream_error(unsigned thread, std::string_view upstream, reason why) noexcept {
    impl_->on_shard(thread, [&](shard& h) {
        h.cells.add(pack(family::upstream_errors, h.upstreams.number(upstream), number(why)));
    });
}

void metrics::store_error(unsigned thread, std::string_view tier, std::string_view operation, reason why) noexcept {
    impl_->on_shard(thread, [&](shard& h) {
        h.cells.add(pack(family::store_errors, h.tiers.number(tier), h.operations.number(operation), number(why)));
    });
}

void metrics::not_stored(unsigned thread, reason why) noexcept {
    impl_->on_shard(thread, [&](shard& h) { h.cells.add(pack(family::not_stored, number(why))); });
}

void metrics::stored(unsigned thread, std::string_view tier) noexcept {
    impl_->on_shard(thread, [&](shard& h) { h.cells.add(pack(family::stored, h.tiers.number(tier))); });
}

void metrics::output_changed(unsigned thread, std::string_view upstream, upstream::determinism::contrast c) noexcept {
    if (c == upstream::determinism::contrast::same) return;
    impl_->on_shard(thread, [&](shard& h) {
        h.cells.add(pack(family::output_changes, h.upstreams.number(upstream), static_cast<std::uint8_t>(c)));
    });
}

void metrics::ledger(unsigned thread, std::string_view result) noexcept {
    impl_->on_shard(thread, [&](shard& h) { h.cells.add(pack(family::ledger, h.operations.number(result))); });
}

void metrics::confirmed(unsigned thread, std::string_view result) noexcept {
    impl_->on_shard(thread, [&](shard& h) { h.cells.add(pack(family::confirmations, h.operations.number(result))); });
}

void metrics::provide(std::string_view name, std::string_view help, std::string_view type, std::string_view labels,
                      std::function<double()> read) {
    const std::lock_guard lock(impl_->provided_mutex);
    impl_->provided_values.push_back(
        {std::string(name), std::string(help), std::string(type), std::string(labels), std::move(read)});
}

std::uint64_t metrics::total(outcome o) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& h : impl_->shards) sum += h.by_outcome[static_cast<std::size_t>(o)].get();
    return sum;
}

std::uint64_t metrics::total(reason r) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& h : impl_->shards) sum += h.by_reason[static_cast<std::size_t>(r)].get();
    return sum;
}

}  // namespace idem::gateway::observe
