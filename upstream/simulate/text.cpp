#include "upstream/simulate/text.hpp"

#include <xxhash.h>

#include <array>
#include <bit>

#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::simulate {
namespace {

using namespace dialect;

// Some beyond ASCII, so that whoever cuts bytes carelessly is found out.
constexpr std::array<std::string_view, 64> vocabulary = {
    "the",   "sky",      "is",     "blue",     "because", "light",  "of",      "short",  "waves",   "scatters", "more",
    "than",  "long",     "red",    "and",      "so",      "every",  "evening", "when",   "sun",     "stands",   "low",
    "we",    "see",      "colour", "a",        "small",   "answer", "comes",   "again",  "same",    "bytes",    "for",
    "one",   "question", "no",     "matter",   "who",     "asks",   "it",      "first",  "naïve",   "café",     "東京",
    "🙂",    "größe",    "señor",  "“quoted”", "new",     "line",   "path",    "\\n",    "\"yes\"", "maybe",    "two",
    "three", "river",    "stone",  "glass",    "number",  "proof",  "cache",   "stream", "end"};

std::uint64_t hash(std::string_view text, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

std::uint64_t meaning_of_text(std::string_view token, std::uint64_t seed) {
    const std::string_view inner = string_inner(token);
    if (inner.find('\\') == std::string_view::npos) return hash(inner, seed);
    return hash(string_text(token).value_or(std::string(inner)), seed);
}

std::uint64_t meaning_of_number(std::string_view token) {
    const double value = number_value(token).value_or(0);
    return mix(std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value));
}

void append_value(std::string& out, std::string_view type, std::uint64_t state) {
    if (type == "integer" || type == "number") {
        out += std::to_string(state % 1000);
    } else if (type == "boolean") {
        out += state % 2 == 0 ? "true" : "false";
    } else if (type == "array") {
        out += "[]";
    } else if (type == "object") {
        out += "{}";
    } else {
        append_json_string(out, vocabulary[state % vocabulary.size()]);
    }
}

}  // namespace

std::uint64_t mix(std::uint64_t x) noexcept {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

std::uint64_t meaning(std::string_view token) {
    std::uint64_t sum = 0;
    switch (kind_of(token)) {
        case json_kind::object: {
            json_members members(token);
            while (members.next()) sum += mix(hash(members.key(), 2) ^ mix(meaning(members.value())));
            return mix(sum + 3);
        }
        case json_kind::array: {
            json_items items(token);
            while (items.next()) sum = mix(sum ^ meaning(items.value()));
            return mix(sum + 5);
        }
        case json_kind::string:
            return meaning_of_text(token, 7);
        case json_kind::number:
            return meaning_of_number(token);
        default:
            return hash(token, 11);
    }
}

std::vector<std::string> words(std::uint64_t state, std::size_t count) {
    std::vector<std::string> out;
    out.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view word = vocabulary[mix(state + i) % vocabulary.size()];
        std::string& token = out.emplace_back();
        if (i > 0) token += ' ';
        token += word;
        if (i % 12 == 11) token += '.';
    }
    return out;
}

std::string json_for_schema(std::string_view schema, std::uint64_t state) {
    std::string out = "{";
    json_members properties(find_member(schema, "properties"));
    while (properties.next()) {
        if (out.size() > 1) out += ',';
        out += '"';
        out += properties.key();
        out += "\":";
        state = mix(state);
        append_value(out, string_inner(find_member(properties.value(), "type")), state);
    }
    return out + "}";
}

std::vector<std::string> slices(std::string_view text) {
    constexpr std::size_t size = 5;
    std::vector<std::string> out;
    while (!text.empty()) {
        std::size_t end = std::min(size, text.size());
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
        out.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return out;
}

}  // namespace idem::upstream::simulate
