#include "upstream/route/retry.hpp"

#include <algorithm>
#include <charconv>

namespace idem::upstream::route {

bool may_repeat(const attempt& failed) noexcept {
    if (failed.answered) return false;
    if (failed.lost) return !failed.sent || failed.repeatable;
    switch (failed.why) {
        case reason::upstream_connect:
            return true;
        case reason::upstream_timeout:
            return !failed.sent;
        case reason::upstream_reset:
            return !failed.sent || failed.repeatable;
        default:
            return false;
    }
}

bool may_ask_another(unsigned status, bool repeatable) noexcept {
    return repeatable && (status == 502 || status == 503);
}

namespace {

std::optional<int> number(std::string_view text, int least, int most) noexcept {
    int n = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc() || end != text.data() + text.size() || n < least || n > most) return std::nullopt;
    return n;
}

// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that may still be sent (RFC 9110 section 5.6.7).
std::optional<std::int64_t> date(std::string_view text) noexcept {
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.size() != 29 || !text.ends_with(" GMT") || text[19] != ':' || text[22] != ':') return std::nullopt;
    const std::size_t month = months.find(text.substr(8, 3));
    const auto day = number(text.substr(5, 2), 1, 31);
    const auto year = number(text.substr(12, 4), 1970, 9999);
    const auto hour = number(text.substr(17, 2), 0, 23);
    const auto minute = number(text.substr(20, 2), 0, 59);
    const auto second = number(text.substr(23, 2), 0, 60);
    if (month == std::string_view::npos || month % 3 != 0 || !day || !year || !hour || !minute || !second) {
        return std::nullopt;
    }
    const std::chrono::year_month_day at{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(month / 3 + 1)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
    const std::int64_t days = std::chrono::sys_days(at).time_since_epoch().count();
    return ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
}

}  // namespace

std::optional<std::chrono::seconds> retry_after(std::string_view field, std::int64_t now) noexcept {
    constexpr std::int64_t most = 24 * 3600;
    std::int64_t wait = 0;
    const auto [end, ec] = std::from_chars(field.data(), field.data() + field.size(), wait);
    if (ec != std::errc() || end != field.data() + field.size()) wait = date(field).value_or(now) - now;
    if (wait <= 0) return std::nullopt;
    return std::chrono::seconds(std::min(wait, most));
}

retry_budget::retry_budget(retry_limits limits) noexcept
    : share_(static_cast<std::int64_t>(std::clamp(limits.share, 0.0, 1.0) * one)),
      most_(one * limits.burst),
      level_(most_) {}

void retry_budget::on_request() noexcept {
    // A full bucket is only read: the healthy path shares no written cache line.
    std::int64_t now = level_.load(std::memory_order_relaxed);
    while (now < most_ &&
           !level_.compare_exchange_weak(now, std::min(now + share_, most_), std::memory_order_relaxed)) {
    }
}

bool retry_budget::take() noexcept {
    std::int64_t now = level_.load(std::memory_order_relaxed);
    while (now >= one) {
        if (level_.compare_exchange_weak(now, now - one, std::memory_order_relaxed)) return true;
    }
    return false;
}

}  // namespace idem::upstream::route
