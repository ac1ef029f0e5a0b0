#include "cache/request/enforce.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "upstream/dialect/json_text.hpp"

namespace idem::cache {

namespace dialect = upstream::dialect;
using upstream::engine::request_rule;
using kind = request_rule::kind;

namespace {

constexpr std::size_t retained = std::size_t{4} << 20;  // memory that one long body may leave behind

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// As servers see it that fold case, or take `random_seed` for `randomSeed`.
bool loosely_same(std::string_view a, std::string_view b) noexcept {
    std::size_t j = 0;
    for (const char c : a) {
        if (c == '_') continue;
        while (j < b.size() && b[j] == '_') ++j;
        if (j == b.size() || lower(c) != lower(b[j])) return false;
        ++j;
    }
    while (j < b.size() && b[j] == '_') ++j;
    return j == b.size();
}

// Without the white space between tokens, which is all that a small list may differ in.
std::string compact(std::string_view json) {
    std::string out;
    bool text = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (!text && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) continue;
        out += c;
        if (c == '"') text = !text;
        if (text && c == '\\' && i + 1 < json.size()) out += json[++i];
    }
    return out;
}

bool same_value(std::string_view a, std::string_view b) {
    if (a == b) return true;
    const dialect::json_kind is = dialect::kind_of(a);
    if (is != dialect::kind_of(b)) return false;
    switch (is) {
        case dialect::json_kind::number:
            return dialect::number_value(a) == dialect::number_value(b);
        case dialect::json_kind::string:
            return dialect::string_text(a) == dialect::string_text(b);
        case dialect::json_kind::array:
        case dialect::json_kind::object:
            return a.size() <= 256 && compact(a) == compact(b);
        default:
            return false;
    }
}

bool among_same(const request_rule& rule, std::string_view value) {
    return std::ranges::any_of(rule.same, [&](std::string_view s) { return !s.empty() && same_value(s, value); });
}

bool number_from_to(std::string_view value, double from, double to) noexcept {
    const auto n = dialect::number_value(value);
    return n && *n >= from && *n < to;
}

// Written as an integer: servers disagree on what others are.
std::optional<std::int64_t> integer_value(std::string_view value) noexcept {
    std::int64_t n = 0;
    const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (ec != std::errc{} || end != value.data() + value.size()) return std::nullopt;
    return n;
}

bool every_item(std::string_view list, bool (*is)(std::string_view)) {
    if (dialect::kind_of(list) != dialect::json_kind::array) return false;
    dialect::json_items items(list);
    bool some = false;
    while (items.next()) {
        some = true;
        if (!is(items.value())) return false;
    }
    return some;
}

bool text_or_ids(std::string_view value) {
    if (dialect::kind_of(value) == dialect::json_kind::string) return true;
    return every_item(value, [](std::string_view id) { return integer_value(id).value_or(-1) >= 0; });
}

// Also as a list of one.
bool one_input(std::string_view value) {
    if (text_or_ids(value)) return true;
    if (dialect::kind_of(value) != dialect::json_kind::array) return false;
    dialect::json_items items(value);
    return items.next() && text_or_ids(items.value()) && !items.next();
}

bool list_of_objects(std::string_view value) {
    return every_item(value,
                      [](std::string_view turn) { return dialect::kind_of(turn) == dialect::json_kind::object; });
}

bool number_in(const request_rule& rule, std::string_view value) noexcept {
    const auto n = integer_value(value);
    return n && *n >= rule.least && *n <= rule.most;
}

std::string shortened(std::string_view value) {
    constexpr std::size_t most = 60;
    if (value.size() <= most) return std::string(value);
    std::size_t cut = most;
    while (cut > 0 && (static_cast<unsigned char>(value[cut]) & 0xc0U) == 0x80U) --cut;
    return std::string(value.substr(0, cut)) + "…";
}

std::string expected_of(const request_rule& rule) {
    switch (rule.is) {
        case kind::set:
        case kind::neutralise:
            return std::string(rule.value) + " or absent";
        case kind::supply:
            return "an integer from " + std::to_string(rule.least) + " to " + std::to_string(rule.most) + ", or absent";
        case kind::forbid:
            return rule.same.front().empty() ? "absent" : std::string(rule.same.front()) + " or absent";
        case kind::single:
            return "one input: a text, or one list of token ids";
        case kind::turns:
            return "a list of messages";
        case kind::apart:
            return "a number, 0 or at least " + std::string(rule.value);
    }
    return {};
}

bool writes_when_absent(const request_rule& rule) noexcept {
    return (rule.is == kind::set || rule.is == kind::neutralise || rule.is == kind::supply) && !rule.value.empty();
}

bool holds(const request_rule& rule, request_rule::under when) noexcept {
    return rule.when == request_rule::under::both || rule.when == when;
}

}  // namespace

enforcement::enforcement(std::span<const request_rule> rules, request_rule::under when, bool loose_names)
    : loose_(loose_names) {
    for (const request_rule& rule : rules) {
        if (!holds(rule, when)) continue;
        const std::string_view path = rule.at.substr(1);
        const std::size_t slash = path.find('/');
        if (slash == std::string_view::npos) {
            top_.push_back({path, &rule, {}});
            continue;
        }
        auto parent = std::ranges::find(top_, path.substr(0, slash), &member::name);
        if (parent == top_.end()) parent = top_.insert(top_.end(), {path.substr(0, slash), nullptr, {}});
        parent->below.push_back({path.substr(slash + 1), &rule, {}});
    }
}

void enforcement::know(std::span<const std::string_view> pointers) {
    for (const std::string_view pointer : pointers) {
        known_.emplace_back(pointer.substr(1));
        std::ranges::replace(known_.back(), '/', '.');
    }
    std::ranges::sort(known_);
}

void enforcement::rename_model(std::string_view to) {
    model_.clear();
    dialect::append_json_string(model_, to);
}

bool enforcement::same_name(std::string_view key, std::string_view name) const {
    if (!loose_) return dialect::key_is(key, name);
    if (key.find('\\') == std::string_view::npos) return loosely_same(key, name);
    return loosely_same(dialect::string_text("\"" + std::string(key) + "\"").value_or(""), name);
}

enforcer::result enforcer::enforce(std::string_view json, const enforcement& by, on_conflict how) {
    if (out_.capacity() > retained) out_ = std::string();
    out_.clear();
    by_ = &by;
    how_ = how;
    done_ = json.data();
    changed_ = false;
    found_ = {};
    object(json, by.top_, {});
    if (changed_) {
        out_.append(done_, json.data() + json.size());
        found_.text = out_;
    }
    return std::move(found_);
}

void enforcer::replace(const char* from, const char* to, std::string_view text) {
    out_.append(done_, from);
    out_ += text;
    done_ = to;
    changed_ = true;
}

// True if something else is to stand there.
bool enforcer::complain(const std::string& field, std::string_view value, std::string expected, bool helpless) {
    found_.conflicts.push_back({field, shortened(value), std::move(expected)});
    found_.beyond_help = found_.beyond_help || helpless;
    return how_ == on_conflict::override_value && !helpless;
}

// True if the member has to change: to `instead`, or to nothing where that is not set.
bool enforcer::judge(const request_rule& rule, std::string_view value, const std::string& field,
                     std::optional<std::string_view>& instead) {
    const bool null = dialect::kind_of(value) == dialect::json_kind::null;
    if (!rule.value.empty()) instead = rule.value;
    switch (rule.is) {
        case kind::set:
        case kind::neutralise:
            if (same_value(rule.value, value)) return false;
            if (null || among_same(rule, value) || number_from_to(value, 0, rule.same_below)) return true;
            return complain(field, value, expected_of(rule));
        case kind::supply:
            if (null) return instead.has_value();
            if (number_in(rule, value) && !among_same(rule, value)) return false;
            return complain(field, value, expected_of(rule));
        case kind::forbid:
            if (null || among_same(rule, value)) return false;
            return complain(field, value, expected_of(rule));
        case kind::single:
            return !one_input(value) && complain(field, value, expected_of(rule), true);
        case kind::turns:
            return !list_of_objects(value) && complain(field, value, expected_of(rule), true);
        case kind::apart:
            if (null) return false;
            if (dialect::kind_of(value) == dialect::json_kind::number &&
                !number_from_to(value, rule.same_below, dialect::number_value(rule.value).value_or(0)))
                return false;
            return complain(field, value, expected_of(rule));
    }
    return false;
}

// The same of a member that rules look into.
bool enforcer::nested(const enforcement::member& wanted, std::string_view value, const std::string& field,
                      std::optional<std::string_view>& instead) {
    const dialect::json_kind is = dialect::kind_of(value);
    if (is == dialect::json_kind::object) {
        object(value, wanted.below, field + ".");
        return false;
    }
    bool some = false;
    made_ = "{";
    for (const enforcement::member& m : wanted.below) append_missing(m, made_, some);
    made_ += '}';
    if (some) instead = made_;
    if (is == dialect::json_kind::null) return some;
    return complain(field, value, "an object, or absent");
}

void enforcer::append_missing(const enforcement::member& wanted, std::string& out, bool& any) const {
    std::string value;
    if (wanted.rule) {
        if (!writes_when_absent(*wanted.rule)) return;
        value = wanted.rule->value;
    } else {
        bool some = false;
        for (const enforcement::member& m : wanted.below) append_missing(m, value, some);
        if (!some) return;
        value = "{" + value + "}";
    }
    if (std::exchange(any, true)) out += ',';
    out.append("\"").append(wanted.name).append("\":").append(value);
}

// What is null is as good as absent.
void enforcer::remark(std::string_view key, std::string_view value, const std::string& path) {
    if (by_->known_.empty() || found_.unknown || dialect::kind_of(value) == dialect::json_kind::null) return;
    std::string name = path;
    name += key.find('\\') == std::string_view::npos
                ? std::string(key)
                : dialect::string_text("\"" + std::string(key) + "\"").value_or("");
    found_.unknown = !std::ranges::binary_search(by_->known_, name);
}

void enforcer::object(std::string_view object, const std::vector<enforcement::member>& wanted,
                      const std::string& path) {
    std::uint64_t seen = 0;  // bit by index in `wanted`, which has fewer than 64
    dialect::json_members members(object);
    const char* last = object.data() + object.find('{') + 1;  // the end of the member before
    bool kept = false;                                        // some member before stays
    const char* dropped = nullptr;                            // the first member that goes while none before it stays
    while (members.next()) {
        const char* const begin = members.key().data() - 1;
        const char* const end = members.value().data() + members.value().size();
        if (dropped && !kept) {  // up to here, with the comma
            replace(dropped, begin, {});
            dropped = nullptr;
        }
        std::optional<std::string_view> instead;
        bool changes = false;
        if (path.empty() && !by_->model_.empty() && dialect::key_is(members.key(), "model") &&
            dialect::kind_of(members.value()) == dialect::json_kind::string) {
            changes = !same_value(by_->model_, members.value());
            instead = by_->model_;
        }
        bool ruled = false;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (!by_->same_name(members.key(), wanted[i].name)) continue;
            ruled = true;
            seen |= std::uint64_t{1} << i;
            const std::string field = path + std::string(wanted[i].name);
            if (wanted[i].rule) {
                changes = judge(*wanted[i].rule, members.value(), field, instead);
            } else {
                changes = nested(wanted[i], members.value(), field, instead);
            }
            break;
        }
        if (!ruled) remark(members.key(), members.value(), path);
        if (!changes) {
            kept = true;
        } else if (instead) {
            replace(members.value().data(), end, *instead);
            kept = true;
        } else if (kept) {
            replace(last, end, {});
        } else if (!dropped) {
            dropped = begin;
        }
        last = end;
    }
    if (dropped && !kept) replace(dropped, last, {});
    std::string missing;
    bool any = kept;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if ((seen >> i & 1U) == 0) append_missing(wanted[i], missing, any);
    }
    if (!missing.empty()) replace(last, last, missing);
}

std::string with_member(std::string_view json, std::string_view pointer, std::string_view value, bool only_if_absent,
                        bool loose_names) {
    const request_rule rules[] = {{.at = pointer, .is = only_if_absent ? kind::supply : kind::set, .value = value}};
    const enforcement by(rules, request_rule::under::strict, loose_names);
    enforcer once;
    const enforcer::result done =
        once.enforce(json, by, only_if_absent ? on_conflict::allow : on_conflict::override_value);
    return std::string(done.text.value_or(json));
}

}  // namespace idem::cache
