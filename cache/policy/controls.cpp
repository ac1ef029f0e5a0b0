#include "cache/policy/controls.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace idem::cache {
namespace {

using std::chrono::seconds;
using upstream::http::fields;
using upstream::http::iequals;

constexpr std::int64_t longest = std::int64_t{1} << 31;

constexpr std::string_view cf_skip = "cf-aig-skip-cache";
constexpr std::string_view cf_ttl = "cf-aig-cache-ttl";
constexpr std::string_view helicone = "helicone-cache-enabled";
constexpr std::string_view portkey = "x-portkey-cache-force-refresh";
constexpr std::string_view braintrust = "x-bt-use-cache";
constexpr std::string_view aliases[] = {cf_skip, cf_ttl, helicone, portkey, braintrust};

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool visible(char c) noexcept {
    return c > 0x20 && c < 0x7f;
}

std::string_view trim(std::string_view s) noexcept {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
}

// delta-seconds (RFC 9111 section 1.2.2).
std::optional<seconds> delta_seconds(std::string_view text) noexcept {
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
    std::int64_t n = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    if (read.ec != std::errc{} || n > longest) n = longest;
    return seconds(n);
}

// The next element of a comma-separated list whose elements may hold quoted strings (RFC 9110 section 5.6.1).
std::string_view next_element(std::string_view& list) noexcept {
    bool quoted = false;
    std::size_t i = 0;
    for (; i < list.size(); ++i) {
        const char c = list[i];
        if (quoted && c == '\\' && i + 1 < list.size()) {
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            break;
        }
    }
    const std::string_view element = trim(list.substr(0, i));
    list.remove_prefix(std::min(i + 1, list.size()));
    return element;
}

struct directive {
    std::string_view name;
    std::optional<std::string_view> argument;  // without quotes
};

directive read_directive(std::string_view element) noexcept {
    const std::size_t equals = element.find('=');
    if (equals == std::string_view::npos) return {element, std::nullopt};
    std::string_view argument = element.substr(equals + 1);
    if (argument.size() >= 2 && argument.front() == '"' && argument.back() == '"') {
        argument = argument.substr(1, argument.size() - 2);
    }
    return {element.substr(0, equals), argument};
}

class reader {
public:
    explicit reader(const fields& all) : all_(all) {}

    parsed_controls run() noexcept {
        for (const auto [name, value] : all_) {
            read(name, value);
            if (result_.error) break;
        }
        return result_;
    }

private:
    void fail(std::string_view field, std::string_view expected) noexcept { result_.error = {field, expected}; }

    void read(std::string_view name, std::string_view value) noexcept {
        controls& c = result_.value;
        if (iequals(name, "cache-control")) {
            cache_control(value);
        } else if (iequals(name, "idempotency-key")) {
            if (once("Idempotency-Key", name)) idempotency_key(trim(value));
        } else if (name.size() > 5 && iequals(name.substr(0, 5), "idem-")) {
            own(name, trim(value));
        } else if (iequals(name, cf_skip) || iequals(name, portkey)) {
            c.no_cache |= iequals(value, "true");
        } else if (iequals(name, cf_ttl)) {
            const auto ttl = delta_seconds(trim(value));
            if (!ttl) return fail("cf-aig-cache-ttl", "a number of seconds");
            if (ttl->count() > 0 && !c.ttl) c.ttl = ttl;
        } else if (iequals(name, helicone)) {
            if (iequals(value, "false")) c.no_store = c.no_cache = true;
        } else if (iequals(name, braintrust)) {
            if (iequals(value, "never")) c.no_store = c.no_cache = true;
        }
    }

    void cache_control(std::string_view list) noexcept {
        controls& c = result_.value;
        while (!list.empty() && !result_.error) {
            const directive d = read_directive(next_element(list));
            if (iequals(d.name, "no-cache")) {
                flag(d, c.no_cache);
            } else if (iequals(d.name, "no-store")) {
                flag(d, c.no_store);
            } else if (iequals(d.name, "only-if-cached")) {
                flag(d, c.only_if_cached);
            } else if (iequals(d.name, "max-age")) {
                duration(d, c.max_age);
            } else if (iequals(d.name, "stale-if-error")) {
                duration(d, c.stale_if_error);
            }
        }
    }

    void flag(const directive& d, bool& to) noexcept {
        if (d.argument) return fail("Cache-Control", "no-cache, no-store and only-if-cached without an argument");
        to = true;
    }

    // Said twice, the smaller one holds: the client accepts nothing older.
    void duration(const directive& d, std::optional<seconds>& to) noexcept {
        const auto value = delta_seconds(d.argument.value_or(""));
        if (!value) return fail("Cache-Control", "max-age and stale-if-error with a number of seconds");
        if (!to || *value < *to) to = value;
    }

    void own(std::string_view name, std::string_view value) noexcept {
        if (iequals(name, "idem-ttl")) {
            if (!once("Idem-TTL", name)) return;
            ttl(value);
        } else if (iequals(name, "idem-sample")) {
            if (!once("Idem-Sample", name)) return;
            sample(value);
        } else if (iequals(name, "idem-namespace")) {
            if (!once("Idem-Namespace", name)) return;
            name_space(value);
        } else if (iequals(name, "idem-policy")) {
            if (!once("Idem-Policy", name)) return;
            policy(value);
        } else if (iequals(name, "idem-tags")) {
            if (!once("Idem-Tags", name)) return;
            tags(value);
        }
    }

    bool once(std::string_view field, std::string_view name) noexcept {
        if (all_.count(name) == 1) return true;
        fail(field, "exactly one field of this name");
        return false;
    }

    void ttl(std::string_view value) noexcept {
        const auto parsed = parse_ttl(value);
        if (!parsed) return fail("Idem-TTL", "seconds above 0, or a number followed by s, m, h or d");
        result_.value.ttl = parsed;
    }

    void sample(std::string_view value) noexcept {
        std::uint32_t n = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), n);
        if (read.ec != std::errc{} || read.ptr != value.data() + value.size()) {
            return fail("Idem-Sample", "an integer from 0 to 4294967295");
        }
        result_.value.sample = n;
    }

    void name_space(std::string_view value) noexcept {
        if (value.empty() || value.size() > longest_namespace || !std::all_of(value.begin(), value.end(), visible)) {
            return fail("Idem-Namespace", "1 to 128 visible ASCII characters");
        }
        result_.value.name_space = value;
    }

    void policy(std::string_view value) noexcept {
        const auto allowed = [](char c) {
            return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
        };
        if (value.empty() || value.size() > 64 || !std::all_of(value.begin(), value.end(), allowed)) {
            return fail("Idem-Policy", "the name of a policy: 1 to 64 letters, digits, '-', '_' or '.'");
        }
        result_.value.policy = value;
    }

    // A quoted string by draft-ietf-httpapi-idempotency-key-header, section 2.1; most clients leave the quotes out.
    void idempotency_key(std::string_view value) noexcept {
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
        if (value.empty() || value.size() > longest_idempotency_key ||
            !std::all_of(value.begin(), value.end(), visible)) {
            return fail("Idempotency-Key", "1 to 255 visible ASCII characters");
        }
        result_.value.idempotency_key = value;
    }

    void tags(std::string_view value) noexcept {
        std::size_t count = 0;
        for (std::string_view rest = value; !rest.empty();) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            const std::string_view tag = trim(rest.substr(0, comma));
            if (tag.size() > longest_tag || !std::all_of(tag.begin(), tag.end(), visible) || ++count > most_tags) {
                return fail("Idem-Tags", "up to 16 tags of 1 to 128 visible ASCII characters, separated by commas");
            }
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
        result_.value.tags = value;
    }

    const fields& all_;
    parsed_controls result_;
};

}  // namespace

std::string control_error::message() const {
    return std::string(field).append(" does not parse; expected ").append(expected);
}

parsed_controls parse_controls(const fields& all) noexcept {
    return reader(all).run();
}

std::optional<seconds> parse_ttl(std::string_view text) noexcept {
    std::int64_t unit = 1;
    if (!text.empty() && !is_digit(text.back())) {
        switch (text.back()) {
            case 's':
                unit = 1;
                break;
            case 'm':
                unit = 60;
                break;
            case 'h':
                unit = 3600;
                break;
            case 'd':
                unit = 86400;
                break;
            default:
                return std::nullopt;
        }
        text.remove_suffix(1);
    }
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
    std::int64_t n = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    if (n == 0 || n > longest / unit) return std::nullopt;
    return seconds(n * unit);
}

std::vector<std::string> split_tags(std::string_view tags) {
    std::vector<std::string> out;
    while (!tags.empty()) {
        const std::size_t comma = std::min(tags.find(','), tags.size());
        const std::string_view tag = trim(tags.substr(0, comma));
        if (!tag.empty() && std::find(out.begin(), out.end(), tag) == out.end()) out.emplace_back(tag);
        tags.remove_prefix(std::min(comma + 1, tags.size()));
    }
    return out;
}

bool control_field(std::string_view name) noexcept {
    if (name.size() > 5 && iequals(name.substr(0, 5), "idem-")) return true;
    return std::any_of(std::begin(aliases), std::end(aliases),
                       [&](std::string_view alias) { return iequals(name, alias); });
}

}  // namespace idem::cache
