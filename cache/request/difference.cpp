#include "cache/request/difference.hpp"

#include <algorithm>
#include <unordered_map>

#include "upstream/dialect/json_text.hpp"

namespace idem::cache {
namespace {

using namespace upstream::dialect;

// `key` as the canonical form writes it: what stands between the quotes.
void append_segment(std::string& pointer, std::string_view key) {
    const std::string token = '"' + std::string(key) + '"';
    pointer += '/';
    for (const char c : string_text(token).value_or(std::string(key))) {
        if (c == '~')
            pointer += "~0";
        else if (c == '/')
            pointer += "~1";
        else
            pointer += c;
    }
}

class comparison {
public:
    explicit comparison(std::size_t limit) : limit_(limit) {}

    void values(std::string_view a, std::string_view b) {
        if (a == b || out_.more) return;
        const json_kind kind = kind_of(a);
        if (kind != kind_of(b)) return note(difference::kind::changed, a, b);
        if (kind == json_kind::object) return objects(a, b);
        if (kind == json_kind::array) return arrays(a, b);
        note(difference::kind::changed, a, b);
    }
    differences result() { return std::move(out_); }

private:
    void note(difference::kind what, std::string_view a, std::string_view b) {
        if (out_.list.size() == limit_) {
            out_.more = true;
            return;
        }
        out_.list.push_back({pointer_, what, a, b});
    }

    template <class Visit>
    void below(std::string_view segment, Visit visit) {
        const std::size_t here = pointer_.size();
        append_segment(pointer_, segment);
        visit();
        pointer_.resize(here);
    }

    void objects(std::string_view a, std::string_view b) {
        std::unordered_map<std::string_view, std::string_view> others;
        for (json_members members(b); members.next();) others.emplace(members.key(), members.value());
        const std::size_t before = out_.list.size();
        std::unordered_map<std::string_view, std::string_view> seen;
        for (json_members members(a); members.next();) {
            const std::string_view value = members.value();
            seen.emplace(members.key(), value);
            const auto other = others.find(members.key());
            below(members.key(), [&] {
                if (other == others.end())
                    note(difference::kind::only_in_a, value, {});
                else
                    values(value, other->second);
            });
        }
        for (json_members members(b); members.next();) {
            if (seen.contains(members.key())) continue;
            below(members.key(), [&] { note(difference::kind::only_in_b, {}, members.value()); });
        }
        // Equal members throughout, and yet other bytes: the order.
        if (out_.list.size() == before && !out_.more) note(difference::kind::order, a, b);
    }

    void arrays(std::string_view a, std::string_view b) {
        json_items left(a);
        json_items right(b);
        for (std::size_t i = 0;; ++i) {
            const bool in_a = left.next();
            const bool in_b = right.next();
            if ((!in_a && !in_b) || out_.more) return;
            below(std::to_string(i), [&] {
                if (!in_b)
                    note(difference::kind::only_in_a, left.value(), {});
                else if (!in_a)
                    note(difference::kind::only_in_b, {}, right.value());
                else
                    values(left.value(), right.value());
            });
        }
    }

    const std::size_t limit_;
    std::string pointer_;
    differences out_;
};

}  // namespace

differences compare_canonical(std::string_view a, std::string_view b, std::size_t limit) {
    comparison c(limit);
    c.values(a, b);
    return c.result();
}

}  // namespace idem::cache
