#include "cache/policy/freshness.hpp"

#include <algorithm>

namespace idem::cache {
namespace {

using std::chrono::milliseconds;

constexpr unix_ms last_moment = std::int64_t{1} << 62;

unix_ms later(unix_ms from, milliseconds by) noexcept {
    return by.count() > last_moment - from ? last_moment : from + std::max<std::int64_t>(0, by.count());
}

}  // namespace

freshness judge(unix_ms created, unix_ms fresh_until, unix_ms keep_until, const controls& wanted,
                unix_ms now) noexcept {
    if (now >= keep_until) return freshness::dead;
    if (now >= fresh_until) return freshness::expired;
    // max-age=0 asks for a new answer, even within the second in which this one was made.
    if (wanted.max_age && (wanted.max_age->count() == 0 || now - created > milliseconds(*wanted.max_age).count())) {
        return freshness::too_old;
    }
    return freshness::fresh;
}

bool may_serve_stale(unix_ms fresh_until, unix_ms keep_until, const controls& wanted, bool policy_allows,
                     unix_ms now) noexcept {
    if (now >= keep_until || wanted.no_cache || wanted.max_age) return false;
    if (wanted.stale_if_error) return now < later(fresh_until, *wanted.stale_if_error);
    return policy_allows;
}

std::int64_t age_seconds(unix_ms created, unix_ms now) noexcept {
    return std::max<std::int64_t>(0, now - created) / 1000;
}

unix_ms created_at(std::string_view age, unix_ms now) noexcept {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    if (age.empty() || !std::ranges::all_of(age, [](char c) { return c >= '0' && c <= '9'; })) return now;
    std::int64_t seconds = 0;
    for (const char c : age) seconds = std::min(most, seconds * 10 + (c - '0'));
    return std::max<unix_ms>(1, now - seconds * 1000);
}

lifetime lifetime_of(const lifetime_rules& rules, std::optional<std::chrono::seconds> wanted, unix_ms now) noexcept {
    const milliseconds soft = wanted ? std::min(milliseconds(*wanted), rules.ttl) : rules.ttl;
    const unix_ms fresh_until = later(now, soft);
    return {fresh_until, later(fresh_until, rules.stale)};
}

}  // namespace idem::cache
