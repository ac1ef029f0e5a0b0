// Properties of the canonical form over generated documents: what must not matter, and what must.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/request/canonical.hpp"
#include "cache/request/key.hpp"

using namespace idem;

namespace {

struct entry;

// A JSON document as a tree that can be written in many ways.
struct value {
    enum class kind { scalar, text, list, object } is = kind::scalar;
    std::vector<std::string> spellings{"0"};  // of a scalar, all equal
    std::string text;
    std::vector<value> elements;
    std::vector<entry> members;
};

struct entry {
    std::string key;
    value inner;
};

value scalar() {
    static const std::vector<std::vector<std::string>> pool = {
        {"true"},
        {"false"},
        {"0", "-0", "0.0", "0e5"},
        {"1", "1.0", "10e-1"},
        {"-2.5", "-25e-1", "-2.50"},
        {"1e+30", "1E30"},
        {"9007199254740993"},
        {"1e-7", "0.0000001"},
        {"100", "1e2", "100.00"},
        {"12345678901234567890"},
        {"1.2345678901234567e+19", "12345678901234567000.0"},
    };
    value v;
    v.spellings = *rc::gen::elementOf(pool);
    return v;
}

std::string word() {
    static const std::vector<std::string> pieces = {"a",
                                                    "b",
                                                    "Z",
                                                    "\n",
                                                    "\"",
                                                    "\\",
                                                    "/",
                                                    "\x01",
                                                    "\xc3\xa9",
                                                    "\xe2\x82\xac",
                                                    "\xf0\x9f\x98\x82",
                                                    "\xef\xac\xb3",
                                                    "long piece of text",
                                                    "\t",
                                                    "\x7f"};
    std::string s;
    for (const std::string& p :
         *rc::gen::resize(6, rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))))
        s += p;
    return s;
}

value document(int depth);

value nested(int depth) {
    const int choice = *rc::gen::inRange(0, depth > 0 ? 4 : 2);
    if (choice == 0) return scalar();
    value v;
    if (choice == 1) {
        v.is = value::kind::text;
        v.text = word();
    } else if (choice == 2) {
        v.is = value::kind::list;
        for (int n = *rc::gen::inRange(0, 4); n > 0; --n) v.elements.push_back(nested(depth - 1));
    } else {
        v = document(depth - 1);
    }
    return v;
}

value document(int depth) {
    value v;
    v.is = value::kind::object;
    for (int n = *rc::gen::inRange(0, 6); n > 0; --n) {
        const std::string key = word();
        const bool known = std::any_of(v.members.begin(), v.members.end(), [&](const auto& m) { return m.key == key; });
        if (!known) v.members.push_back({key, nested(depth)});
    }
    return v;
}

std::string spaces() {
    static const std::vector<std::string> pool = {"", "", " ", "\n  ", "\t", "\r\n"};
    return *rc::gen::elementOf(pool);
}

void append_unit(std::string& out, unsigned unit) {
    char text[8];
    std::snprintf(text, sizeof text, *rc::gen::arbitrary<bool>() ? "\\u%04x" : "\\u%04X", unit);
    out += text;
}

// Any spelling of a string: each code point raw where allowed, or escaped.
std::string spelled(const std::string& s) {
    std::string out = "\"";
    for (std::size_t i = 0; i < s.size();) {
        const auto lead = static_cast<unsigned char>(s[i]);
        const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        unsigned c = size == 1 ? lead : lead & (0xffu >> (size + 1));
        for (std::size_t k = 1; k < size; ++k) c = c << 6 | (static_cast<unsigned char>(s[i + k]) & 0x3f);
        if ((lead >= 0x20 && lead != '"' && lead != '\\') && *rc::gen::arbitrary<bool>()) {
            out += s.substr(i, size);
        } else if (c == '\n' && *rc::gen::arbitrary<bool>()) {
            out += "\\n";
        } else if (c == '/' && *rc::gen::arbitrary<bool>()) {
            out += "\\/";
        } else if (c >= 0x10000) {
            append_unit(out, 0xd800 + ((c - 0x10000) >> 10));
            append_unit(out, 0xdc00 + ((c - 0x10000) & 0x3ff));
        } else {
            append_unit(out, c);
        }
        i += size;
    }
    return out + "\"";
}

std::string written(const value& v) {
    switch (v.is) {
        case value::kind::scalar:
            return *rc::gen::elementOf(v.spellings);
        case value::kind::text:
            return spelled(v.text);
        case value::kind::list: {
            std::string out = "[" + spaces();
            for (std::size_t i = 0; i < v.elements.size(); ++i)
                out += (i ? "," : "") + spaces() + written(v.elements[i]) + spaces();
            return out + "]";
        }
        case value::kind::object:
            break;
    }
    std::vector<std::size_t> order(v.members.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
    std::string out = "{" + spaces();
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& [key, inner] = v.members[order[i]];
        out += (i ? "," : "") + spaces() + spelled(key) + spaces() + ":" + spaces() + written(inner) + spaces();
    }
    return out + "}";
}

// Changes one scalar or string somewhere; false where the document has none.
bool change(value& v) {
    switch (v.is) {
        case value::kind::scalar:
            v.spellings = {v.spellings[0] == "77" ? "78" : "77"};
            return true;
        case value::kind::text:
            v.text += "!";
            return true;
        case value::kind::list:
            return std::any_of(v.elements.begin(), v.elements.end(), [](value& e) { return change(e); });
        case value::kind::object:
            return std::any_of(v.members.begin(), v.members.end(), [](auto& m) { return change(m.inner); });
    }
    return false;
}

constexpr std::string_view kept_rule[] = {"/kept"};
constexpr upstream::dialect::body_rules keep{{}, kept_rule};

std::string canonical(const std::string& json, const upstream::dialect::body_rules& rules = {}) {
    static cache::canonicalizer c;
    const cache::canonical_form form = c.canonicalize(json, rules);
    RC_ASSERT(form.why == reason::none);
    return std::string(form.text);
}

}  // namespace

TEST_CASE("every spelling of a document has one canonical form, which is its own") {
    CHECK(rc::check([] {
        const value v = document(4);
        const std::string first = canonical(written(v));
        RC_ASSERT(canonical(written(v)) == first);
        RC_ASSERT(canonical(first) == first);
    }));
}

TEST_CASE("one changed scalar changes the canonical form and the request digest") {
    CHECK(rc::check([] {
        value v = document(4);
        const std::string before = canonical(written(v));
        RC_PRE(change(v));
        const std::string after = canonical(written(v));
        RC_ASSERT(before != after);
        cache::request_parts a, b;
        a.body = before;
        b.body = after;
        RC_ASSERT(cache::request_digest(a) != cache::request_digest(b));
    }));
}

TEST_CASE("documents that differ in an array's order or an added member differ") {
    CHECK(rc::check([] {
        value v = document(3);
        const std::string before = canonical(written(v));
        value extra;
        extra.spellings = {"1"};
        v.members.push_back({"a key that no word spells", extra});
        RC_ASSERT(canonical(written(v)) != before);
    }));
    CHECK(canonical(R"({"a":[1,2]})") != canonical(R"({"a":[2,1]})"));
}

TEST_CASE("an order-kept subtree depends on order and on nothing else of its spelling") {
    CHECK(rc::check([] {
        const value v = document(3);
        const std::string text = R"({"kept":)" + written(v) + "}";
        const std::string form = canonical(text, keep);
        RC_ASSERT(canonical(form, keep) == form);
        RC_ASSERT(canonical(form) == canonical(text));
    }));
}
