#include "cache/request/canonical.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cache/request/buffer.hpp"
#include "cache/request/number.hpp"
#include "cache/request/reorder.hpp"
#include "cache/request/rules.hpp"
#include "cache/request/text.hpp"

// One pass of our own instead of a parser library: it needs the lexemes of numbers (simdjson 3 refuses integers beyond
// 64 bits), every duplicate key, a named reason for every refusal, and no copy into a padded buffer. UTF-8 is checked
// ahead, by simdjson.
namespace idem::cache {
namespace {

using detail::buffer;
using detail::member_range;

constexpr std::size_t deepest = 256;
constexpr std::size_t largest_body = std::size_t{512} << 20;  // offsets are 32 bits, and a number can grow fivefold
constexpr std::size_t retained = std::size_t{4} << 20;        // memory that one long request may leave behind
constexpr std::size_t known_rules = 16;

// Room behind the write position that copy_string and the punctuation may use beyond the rest of the source.
constexpr std::size_t slack = 64;

struct member {
    std::string_view key;  // without escapes
    member_range range;    // empty: left out of the canonical form
    bool ignored = false;
};

struct frame {
    bool object = false;
    bool order_kept = false;
    bool ascending = true;    // keys so far
    bool empty = true;        // nothing read yet
    bool written = false;     // an element or member stands in the text already
    std::uint32_t begin = 0;  // of the container in the text
    std::uint32_t first_member = 0;
    std::uint32_t first_record = 0;
    std::uint32_t alive_from = 0;  // rule nodes for what is inside
    std::uint32_t alive_to = 0;
    bool element_order_kept = false;
};

bool is_space(char c) noexcept {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool key_less(const member& a, const member& b) noexcept {
    return a.key < b.key;
}

void sort_by_key(std::span<member> members) noexcept {
    if (members.size() > 16) {
        std::sort(members.begin(), members.end(), key_less);
        return;
    }
    for (std::size_t i = 1; i < members.size(); ++i) {
        const member moving = members[i];
        std::size_t j = i;
        for (; j > 0 && moving.key < members[j - 1].key; --j) members[j] = members[j - 1];
        members[j] = moving;
    }
}

}  // namespace

struct canonicalizer::impl {
    // Working memory, kept between calls.
    buffer text;    // grows in source order
    buffer sorted;  // the same with members in order
    buffer keys;    // keys that were escaped
    detail::reorder reorder;
    std::vector<member> members;  // of the objects that are open, outermost first
    std::vector<rule_set::node_id> alive;
    std::vector<rule_set> rule_sets;
    frame frames[deepest];

    // The call in progress.
    const rule_set* rules = nullptr;
    std::string_view source;
    const char* in = nullptr;
    const char* end = nullptr;
    char* out = nullptr;
    char* next_key = nullptr;
    std::size_t depth = 0;
    std::size_t most_notes = 0;

    const rule_set& prepared(const upstream::dialect::body_rules& wanted) {
        for (const rule_set& r : rule_sets) {
            if (r.built_from(wanted)) return r;
        }
        if (rule_sets.size() == known_rules) rule_sets.erase(rule_sets.begin());
        return rule_sets.emplace_back(wanted);
    }

    std::uint32_t position() noexcept { return static_cast<std::uint32_t>(out - text.data()); }
    frame& top() noexcept { return frames[depth - 1]; }
    void skip_space() noexcept {
        while (in != end && is_space(*in)) ++in;
    }
    bool take(char c) noexcept {
        if (in == end || *in != c) return false;
        ++in;
        return true;
    }

    void begin(std::string_view json) {
        source = json;
        in = json.data();
        end = in + json.size();
        text.reserve(json.size() + json.size() / 4 + detail::number_room + slack, 0);
        out = text.data();
        next_key = nullptr;
        depth = 0;
        reorder.clear();
        members.clear();
        alive.clear();
    }

    reason open(bool object, bool order_kept) {
        if (depth == deepest) return reason::body_too_deep;
        frame& f = frames[depth++];
        f = frame{};
        f.object = object;
        f.order_kept = order_kept;
        f.begin = position();
        f.first_member = static_cast<std::uint32_t>(members.size());
        f.first_record = reorder.records();
        *out++ = object ? '{' : '[';
        return reason::none;
    }

    // The nodes alive inside the container just opened are those appended since `from`.
    void enter_rules(std::size_t from) {
        frame& f = top();
        f.alive_from = static_cast<std::uint32_t>(from);
        f.alive_to = static_cast<std::uint32_t>(alive.size());
        if (f.object || f.order_kept || rules->idle(f.alive_from, f.alive_to)) return;
        f.element_order_kept = rules->element(alive, f.alive_from, f.alive_to).order_kept;
        f.alive_from = f.alive_to;
        f.alive_to = static_cast<std::uint32_t>(alive.size());
    }

    // Keys without escapes are views of the source; the others are kept aside, where nothing moves them any more.
    std::string_view key_text(const detail::copied_string& copied, const char* raw, const char* canonical) {
        if (!copied.escaped) return {raw, static_cast<std::size_t>(copied.in - 1 - raw)};
        if (!next_key) {
            keys.reserve(source.size(), 0);
            next_key = keys.data();
        }
        char* const first = next_key;
        next_key = detail::unescape({canonical, static_cast<std::size_t>(copied.out - canonical)}, first);
        return {first, static_cast<std::size_t>(next_key - first)};
    }

    // Reads `"key":` and pushes the member, and appends the rule nodes below it.
    reason read_key(bool& order_kept) {
        frame& f = top();
        if (!take('"')) return reason::body_not_json;
        if (f.written) *out++ = ',';
        member m;
        m.range.begin = position();
        m.range.first_record = reorder.records();
        *out++ = '"';
        const char* const raw = in;
        const char* const canonical = out;
        const detail::copied_string copied = detail::copy_string(in, end, out);
        if (!copied.in) return copied.why;
        m.key = key_text(copied, raw, canonical);
        in = copied.in;
        out = copied.out;
        *out++ = '"';
        *out++ = ':';
        skip_space();
        if (!take(':')) return reason::body_not_json;
        skip_space();
        order_kept = f.order_kept;
        if (!f.order_kept && !rules->idle(f.alive_from, f.alive_to)) {
            const rule_set::verdict v = rules->member(alive, f.alive_from, f.alive_to, m.key);
            m.ignored = v.ignored;
            order_kept = v.order_kept;
        }
        if (members.size() > f.first_member && !(members.back().key < m.key)) f.ascending = false;
        members.push_back(m);
        return reason::none;
    }

    reason read_literal(std::string_view word) noexcept {
        if (static_cast<std::size_t>(end - in) < word.size() || std::memcmp(in, word.data(), word.size()) != 0) {
            return reason::body_not_json;
        }
        std::memcpy(out, word.data(), word.size());
        in += word.size();
        out += word.size();
        return reason::none;
    }

    reason read_number() {
        const std::string_view rest(in, static_cast<std::size_t>(end - in));
        const detail::number_token token = detail::scan_number(rest);
        if (token.size == 0) return reason::body_not_json;
        const std::size_t used = position();
        const std::size_t wanted = used + rest.size() + detail::number_room + slack;
        if (wanted > text.capacity()) {
            text.reserve(std::max(wanted, text.capacity() + text.capacity() / 2), used);
            out = text.data() + used;
        }
        const std::size_t size = detail::write_number(rest.substr(0, token.size), token.integer, out);
        if (size == 0) return reason::body_number_range;
        in += token.size;
        out += size;
        return reason::none;
    }

    // Reads a value; a container is only opened. `from` is where the rule nodes below this value begin.
    reason read_value(bool order_kept, std::size_t from) {
        if (in == end) return reason::body_not_json;
        switch (*in) {
            case '"': {
                *out++ = '"';
                const detail::copied_string copied = detail::copy_string(in + 1, end, out);
                if (!copied.in) return copied.why;
                in = copied.in;
                out = copied.out;
                *out++ = '"';
                break;
            }
            case '{':
            case '[': {
                const bool object = *in++ == '{';
                if (const reason why = open(object, order_kept); why != reason::none) return why;
                enter_rules(from);
                return reason::none;
            }
            case 't':
                if (const reason why = read_literal("true"); why != reason::none) return why;
                break;
            case 'f':
                if (const reason why = read_literal("false"); why != reason::none) return why;
                break;
            case 'n':
                if (const reason why = read_literal("null"); why != reason::none) return why;
                if (depth == 1) members.back().ignored = true;  // a top-level null equals absent
                break;
            default:
                if (const reason why = read_number(); why != reason::none) return why;
        }
        finish_value();
        return reason::none;
    }

    // A value of the top container is complete.
    void finish_value() noexcept {
        frame& f = top();
        alive.resize(f.alive_to);
        if (!f.object) {
            f.written = true;
            return;
        }
        member& m = members.back();
        if (m.ignored) {
            out = text.data() + m.range.begin - (f.written ? 1 : 0);
            reorder.drop(m.range.first_record);
            return;
        }
        f.written = true;
        m.range.end = position();
        m.range.last_record = reorder.records();
    }

    reason close() {
        frame& f = top();
        ++in;
        *out++ = f.object ? '}' : ']';
        if (f.object && !f.ascending) {
            const std::span<member> own(members.data() + f.first_member, members.size() - f.first_member);
            sort_by_key(own);
            for (std::size_t i = 1; i < own.size(); ++i) {
                if (own[i - 1].key == own[i].key) return reason::body_duplicate_key;
            }
            if (!f.order_kept) {
                reorder.object(f.begin, position(), f.first_record);
                for (const member& m : own) {
                    if (!m.ignored) reorder.place(m.range);
                }
            }
        }
        members.resize(f.first_member);
        --depth;
        if (depth > 0) finish_value();
        return reason::none;
    }

    // One step inside the top container: the next member or element, or its end.
    reason step() {
        frame& f = top();
        skip_space();
        if (in == end) return reason::body_not_json;
        if (*in == (f.object ? '}' : ']')) return close();
        if (!f.empty) {
            if (!take(',')) return reason::body_not_json;
            skip_space();
        }
        f.empty = false;
        if (!f.object) {
            if (f.written) *out++ = ',';
            return read_value(f.order_kept || f.element_order_kept, f.alive_from);
        }
        if (members.size() + reorder.members() >= most_notes) return reason::body_encoding;
        const std::size_t from = alive.size();
        bool order_kept = false;
        if (const reason why = read_key(order_kept); why != reason::none) return why;
        return read_value(order_kept, from);
    }

    reason run() {
        skip_space();
        if (!take('{')) return reason::body_not_json;
        if (const reason why = open(true, false); why != reason::none) return why;
        rules->start(alive);
        enter_rules(0);
        while (depth > 0) {
            if (const reason why = step(); why != reason::none) return why;
        }
        skip_space();
        return in == end ? reason::none : reason::body_not_json;
    }

    std::string_view result() {
        const std::size_t size = position();
        if (reorder.records() == 0) return {text.data(), size};
        sorted.reserve(size, 0);
        reorder.write({text.data(), size}, sorted.data());
        return {sorted.data(), size};
    }

    void release_excess() noexcept {
        if (text.capacity() > retained) text.release();
        if (sorted.capacity() > retained) sorted.release();
        if (keys.capacity() > retained) keys.release();
        if (reorder.memory() > retained) reorder.release();
        if (members.capacity() * sizeof(member) > retained) members = {};
    }
};

canonicalizer::canonicalizer() : impl_(std::make_unique<impl>()) {}
canonicalizer::~canonicalizer() = default;
canonicalizer::canonicalizer(canonicalizer&&) noexcept = default;
canonicalizer& canonicalizer::operator=(canonicalizer&&) noexcept = default;

canonical_form canonicalizer::canonicalize(std::string_view json, const rule_set& rules, std::size_t most_notes) {
    impl_->release_excess();
    if (json.size() > largest_body) return {reason::body_too_large, {}};
    if (!simdjson::validate_utf8(json.data(), json.size())) return {reason::body_invalid_utf8, {}};
    impl_->begin(json);
    impl_->rules = &rules;
    impl_->most_notes = most_notes;
    if (const reason why = impl_->run(); why != reason::none) return {why, {}};
    return {reason::none, impl_->result()};
}

canonical_form canonicalizer::canonicalize(std::string_view json, const upstream::dialect::body_rules& rules,
                                           std::size_t most_notes) {
    return canonicalize(json, impl_->prepared(rules), most_notes);
}

}  // namespace idem::cache
