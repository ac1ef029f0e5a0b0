#include "cache/state/bans.hpp"

#include <algorithm>
#include <charconv>

namespace idem::cache {

id128 ban_mark(std::uint64_t lineage, std::uint64_t sequence) noexcept {
    id128 out;
    for (std::size_t i = 8; i-- > 0; lineage >>= 8, sequence >>= 8) {
        out.bytes[i] = static_cast<std::uint8_t>(lineage);
        out.bytes[i + 8] = static_cast<std::uint8_t>(sequence);
    }
    return out;
}

std::uint64_t sequence_of(const id128& mark) noexcept {
    std::uint64_t out = 0;
    for (std::size_t i = 8; i < 16; ++i) out = out << 8 | mark.bytes[i];
    return out;
}

ban_subject subject_of(const entry& e) noexcept {
    return {e.key, e.tags, e.model, e.route, e.upstream, e.scope_tag, e.created, e.ban};
}

ban_table::ban_table(const state_record& of) : lineage_(of.lineage), latest_(of.horizon), horizon_(of.horizon) {
    for (const ban& b : of.bans) {
        latest_ = std::max(latest_, b.at);
        if (b.erase) last_erasure_ = std::max(last_erasure_, b.at);
        if (b.kind == ban_kind::all) {
            all_ = std::max(all_, b.at);
        } else if (b.kind == ban_kind::before) {
            unix_ms time = 0;
            std::from_chars(b.value.data(), b.value.data() + b.value.size(), time);
            before_.push_back({time, b.at});
        } else {
            named_[static_cast<std::size_t>(b.kind)].push_back({b.value, b.at});
        }
    }
    for (auto& each : named_) std::ranges::sort(each, {}, &by_value::value);
}

bool ban_table::names(ban_kind kind, std::string_view value, std::uint64_t since) const {
    const auto& all = named_[static_cast<std::size_t>(kind)];
    const auto at = std::ranges::lower_bound(all, value, {}, &by_value::value);
    return at != all.end() && at->value == value && at->at > since;
}

bool ban_table::hits(const ban_subject& s) const {
    const std::uint64_t since = sequence_of(s.mark);
    if (s.mark != ban_mark(lineage_, since)) return true;
    if (since >= latest_) return false;
    using enum ban_kind;
    if (all_ > since) return true;
    const auto older = [&](const time_limit& b) { return b.at > since && s.created < b.time; };
    if (std::ranges::any_of(before_, older)) return true;
    if (std::ranges::any_of(s.tags, [&](const std::string& t) { return names(tag, t, since); })) return true;
    if (!named_[static_cast<std::size_t>(key)].empty() && names(key, to_hex(s.key.value.bytes), since)) return true;
    return names(model, s.model, since) || names(route, s.route, since) || names(upstream, s.upstream, since) ||
           names(scope, s.scope, since);
}

void bans::set(const state_record& now) {
    auto made = std::make_shared<const ban_table>(now);
    const std::scoped_lock lock(mutex_);
    table_ = std::move(made);
    latest_.store(table_->latest(), std::memory_order_release);
}

std::shared_ptr<const ban_table> bans::table() const {
    const std::scoped_lock lock(mutex_);
    return table_;
}

}  // namespace idem::cache
