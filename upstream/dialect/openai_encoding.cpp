#include "upstream/dialect/openai_encoding.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

#include "upstream/base/base64.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect::openai {
namespace {

constexpr std::string_view format_member = "encoding_format";
// Of vLLM, Mistral, Voyage and Jina: with one of these the numbers behind base64 may be of any type.
constexpr std::string_view type_members[] = {"output_dtype", "embed_dtype", "endianness", "embedding_type",
                                             "embedding_types"};

struct asked_format {
    std::string_view key, value;  // as written, without the key's quotes; empty if there is none
    bool typed = false;           // a member says of what type the numbers are
};

asked_format format_of(std::string_view body) {
    asked_format f;
    json_members members(body);
    while (members.next()) {
        const auto is = [&](std::string_view name) { return key_is(members.key(), name); };
        if (members.value() == "null") continue;
        if (is(format_member)) {
            f.key = members.key();
            f.value = members.value();
        } else {
            f.typed = f.typed || std::ranges::any_of(type_members, is);
        }
    }
    return f;
}

// A vector in the other encoding, appended; false if that would say something else.
using render = bool (*)(std::string& out, std::string_view vector);

// What base64 says; nullopt if it says anything but finite singles, for which JSON has no word.
std::optional<std::vector<float>> singles_of(std::string_view vector) {
    const auto text = string_text(vector);
    if (!text || text->empty()) return std::nullopt;
    const auto bytes = base64_bytes(*text);
    if (!bytes || bytes->size() % sizeof(float) != 0) return std::nullopt;
    std::vector<float> singles;
    singles.reserve(bytes->size() / sizeof(float));
    for (std::size_t i = 0; i < bytes->size(); i += sizeof(float)) {
        std::uint32_t bits = 0;
        for (std::size_t k = sizeof(float); k > 0; --k)
            bits = bits << 8U | static_cast<unsigned char>((*bytes)[i + k - 1]);
        singles.push_back(std::bit_cast<float>(bits));
        if (!std::isfinite(singles.back())) return std::nullopt;
    }
    return singles;
}

bool append_numbers(std::string& out, std::string_view vector) {
    if (kind_of(vector) == json_kind::array) {
        out += vector;
        return true;
    }
    const auto singles = singles_of(vector);
    if (!singles) return false;
    char separator = '[';
    for (const float value : *singles) {
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        out += separator;
        separator = ',';
        out.append(digits, end);
        // "-0" is an integer to some readers, and loses its sign.
        if (value == 0 && std::signbit(value)) out += ".0";
    }
    out += ']';
    return true;
}

// The single that a number stands for; nullopt if there is none that says the same.
std::optional<float> single_of(std::string_view number) {
    double value = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    if (read.ec != std::errc{} || read.ptr != number.data() + number.size()) return std::nullopt;
    const auto single = static_cast<float>(value);
    if (!std::isfinite(single)) return std::nullopt;
    if (static_cast<double>(single) == value) return single;
    char shortest[32];
    const auto end = std::to_chars(shortest, shortest + sizeof shortest, single).ptr;
    double back = 0;
    std::from_chars(shortest, end, back);
    return back == value ? std::optional(single) : std::nullopt;
}

bool append_base64(std::string& out, std::string_view vector) {
    if (kind_of(vector) == json_kind::string) {
        out += vector;
        return singles_of(vector).has_value();
    }
    std::string bytes;
    bytes.reserve(vector.size() / 2);
    json_items numbers(vector);
    while (numbers.next()) {
        if (kind_of(numbers.value()) != json_kind::number) return false;
        const auto single = single_of(numbers.value());
        if (!single) return false;
        const auto bits = std::bit_cast<std::uint32_t>(*single);
        for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 255U);
    }
    if (bytes.empty()) return false;
    out.append(1, '"').append(base64_of(bytes)).append(1, '"');
    return true;
}

// The vector of one item of `data`; empty if it has none or is no object of one meaning.
std::string_view vector_of(std::string_view item) {
    if (kind_of(item) != json_kind::object || !unique_keys(item)) return {};
    return find_member(item, "embedding");
}

std::optional<std::string> rendered(std::string_view answer, render how) {
    const std::string_view top = trim(answer);
    if (!is_json(answer) || kind_of(top) != json_kind::object || !unique_keys(top)) return std::nullopt;
    std::string out;
    out.reserve(answer.size());
    std::size_t done = 0;
    json_items items(find_member(top, "data"));
    while (items.next()) {
        const std::string_view vector = vector_of(items.value());
        if (vector.empty()) return std::nullopt;
        const auto at = static_cast<std::size_t>(vector.data() - answer.data());
        out.append(answer.substr(done, at - done));
        if (!how(out, vector)) return std::nullopt;
        done = at + vector.size();
    }
    if (done == 0) return std::nullopt;
    out.append(answer.substr(done));
    return out;
}

}  // namespace

std::optional<form> vector_form(std::string_view body) {
    const asked_format f = format_of(body);
    if (f.value.empty()) return form::json;
    if (f.typed) return std::nullopt;
    const auto word = string_text(f.value);
    if (word == "float") return form::json;
    if (word == "base64") return form::json_base64;
    return std::nullopt;
}

std::optional<std::string> without_vector_form(std::string_view canonical) {
    const asked_format f = format_of(canonical);
    if (f.value.empty() || !vector_form(canonical)) return std::nullopt;
    return without_member(canonical, f.key, f.value);
}

std::optional<std::string> vectors_as_numbers(std::string_view answer) {
    return rendered(answer, append_numbers);
}

std::optional<std::string> vectors_as_base64(std::string_view answer) {
    return rendered(answer, append_base64);
}

}  // namespace idem::upstream::dialect::openai
