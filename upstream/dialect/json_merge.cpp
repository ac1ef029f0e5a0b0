#include "upstream/dialect/json_merge.hpp"

namespace idem::upstream::dialect {
namespace {

std::string_view inner_of(json_kind kind, std::string_view token) noexcept {
    if (kind == json_kind::string) return string_inner(token);
    if (kind == json_kind::array && token.size() >= 2) return trim(token.substr(1, token.size() - 2));
    return token;
}

void append_token(std::string& out, json_kind kind, std::string_view inner) {
    if (kind == json_kind::string) {
        out.append("\"").append(inner).append("\"");
    } else if (kind == json_kind::array) {
        out.append("[").append(inner).append("]");
    } else {
        out.append(inner);
    }
}

}  // namespace

json_merge::slot* json_merge::find(std::string_view key) noexcept {
    for (slot& s : slots_) {
        if (s.key == key) return &s;
    }
    return nullptr;
}

const json_merge::slot* json_merge::find(std::string_view key) const noexcept {
    return const_cast<json_merge*>(this)->find(key);
}

void json_merge::take(std::string_view key, std::string_view value, merge_rule rule) {
    const json_kind kind = kind_of(value);
    const std::string_view inner = inner_of(kind, value);
    slot* s = find(key);
    if (!s) {
        slots_.push_back({std::string(key), kind, std::string(inner)});
    } else if (kind == json_kind::null) {
        return;
    } else if (s->kind == json_kind::null) {
        s->kind = kind;
        s->inner = inner;
    } else {
        combine(*s, kind, inner, rule);
    }
}

void json_merge::combine(slot& into, json_kind kind, std::string_view inner, merge_rule rule) {
    const bool same = into.kind == kind && into.inner == inner;
    switch (rule) {
        case merge_rule::first:
            return;
        case merge_rule::last:
            into.kind = kind;
            into.inner = inner;
            return;
        case merge_rule::once:
            lossy_ |= !same;
            return;
        case merge_rule::single:
            lossy_ |= !same || kind == json_kind::array || kind == json_kind::object;
            return;
        case merge_rule::text:
            if (kind == json_kind::string && inner.empty()) return;
            if (into.kind == json_kind::string && into.inner.empty()) {
                into.kind = kind;
                into.inner = inner;
            }
            lossy_ |= into.kind != kind || into.inner != inner;
            return;
        case merge_rule::concat:
            if (into.kind == json_kind::string && kind == json_kind::string) {
                into.inner += inner;
            } else {
                lossy_ = true;
            }
            return;
        case merge_rule::append:
            if (into.kind == json_kind::array && kind == json_kind::array) {
                if (!into.inner.empty() && !inner.empty()) into.inner += ',';
                into.inner += inner;
            } else {
                lossy_ = true;
            }
            return;
    }
}

void json_merge::put(std::string_view key, std::string value) {
    reserve(key);
    slot* s = find(key);
    s->kind = kind_of(value);
    s->inner = inner_of(s->kind, value);
}

void json_merge::reserve(std::string_view key) {
    if (!find(key)) slots_.push_back({std::string(key), json_kind::null, "null"});
}

bool json_merge::filled(std::string_view key) const noexcept {
    const slot* s = find(key);
    return s && s->kind != json_kind::null && !s->inner.empty();
}

std::string_view json_merge::inner(std::string_view key) const noexcept {
    const slot* s = find(key);
    return s ? std::string_view(s->inner) : std::string_view{};
}

std::string json_merge::text() const {
    std::string out = "{";
    for (const slot& s : slots_) {
        if (out.size() > 1) out += ',';
        out.append("\"").append(s.key).append("\":");
        append_token(out, s.kind, s.inner);
    }
    return out + "}";
}

}  // namespace idem::upstream::dialect
