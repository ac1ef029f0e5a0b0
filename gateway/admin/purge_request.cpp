#include "gateway/admin/purge_request.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <optional>

#include "gateway/config/text.hpp"
#include "upstream/base/digest.hpp"

namespace idem::gateway::admin {

namespace json = boost::json;
using cache::ban_kind;

namespace {

constexpr std::size_t longest_value = 512;
constexpr std::string_view expected =
    "expected one of \"key\", \"tag\", \"model\", \"route\", \"upstream\", \"scope\" and \"before\" with a text, or "
    "\"all\": true; and if you like \"dry_run\": true";

// "2026-11-30T12:00:00Z", with up to three digits behind the seconds.
std::optional<cache::unix_ms> time_of(const std::string& text) {
    constexpr std::string_view shape = "0000-00-00T00:00:00";
    if (text.size() <= shape.size() || text.size() > shape.size() + 5 || text.back() != 'Z') return std::nullopt;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (shape[i] == '0' ? !digit : text[i] != shape[i]) return std::nullopt;
    }
    const auto number = [&](std::size_t at, std::size_t digits) {
        int n = 0;
        for (const char c : text.substr(at, digits)) n = n * 10 + (c - '0');
        return n;
    };
    const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
    using namespace std::chrono;
    const year_month_day date{year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                              day(static_cast<unsigned>(number(8, 2)))};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    cache::unix_ms fraction = 0;
    const std::string_view rest = std::string_view(text).substr(shape.size(), text.size() - shape.size() - 1);
    if (!rest.empty()) {
        if (rest.size() < 2 || rest[0] != '.') return std::nullopt;
        cache::unix_ms unit = 100;
        for (const char c : rest.substr(1)) {
            if (c < '0' || c > '9') return std::nullopt;
            fraction += unit * (c - '0');
            unit /= 10;
        }
    }
    const auto at = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
    return duration_cast<milliseconds>(at.time_since_epoch()).count() + fraction;
}

std::optional<cache::unix_ms> limit_of(const std::string& text, cache::unix_ms now) {
    if (const auto at = time_of(text)) return at;
    const auto age = config::parse_duration(text);
    if (!age) return std::nullopt;
    return now - age->count();
}

purge_request wrong(std::string what) {
    purge_request r;
    r.error = "the body: " + std::move(what) + "; " + std::string(expected);
    return r;
}

}  // namespace

purge_request read_purge(std::string_view body, cache::unix_ms now) {
    boost::system::error_code ec;
    const json::value v = json::parse(body, ec);
    if (ec) return wrong("not JSON");
    if (!v.is_object()) return wrong("not an object");
    purge_request out;
    bool named = false;
    for (const auto& [name, value] : v.get_object()) {
        if (name == "dry_run") {
            if (!value.is_bool()) return wrong("\"dry_run\" must be true or false");
            out.dry_run = value.get_bool();
            continue;
        }
        const auto kind = cache::ban_kind_from(name);
        if (!kind) return wrong("no member \"" + std::string(name) + "\" is known");
        if (std::exchange(named, true)) return wrong("names several things at once");
        out.kind = *kind;
        if (*kind == ban_kind::all) {
            if (!value.is_bool() || !value.get_bool()) return wrong("\"all\" must be true");
            continue;
        }
        if (!value.is_string() || value.get_string().empty() || value.get_string().size() > longest_value)
            return wrong("\"" + std::string(name) + "\" must be a text of 1 to " + std::to_string(longest_value) +
                         " bytes");
        out.value = value.get_string();
    }
    if (!named) return wrong("names nothing");
    if (out.kind == ban_kind::key) {
        const auto key = digest_from_hex(out.value);
        if (!key) return wrong("\"key\" must be the 64 hexadecimal digits of Idem-Key");
        out.value = to_hex(key->bytes);
    } else if (out.kind == ban_kind::before) {
        const auto limit = limit_of(out.value, now);
        if (!limit) return wrong("\"before\" must be a time such as 2026-11-30T12:00:00Z, or an age such as 30d");
        if (*limit > now) return wrong("\"before\" must be a time that is over");
        out.value = std::to_string(*limit);
    }
    return out;
}

}  // namespace idem::gateway::admin
