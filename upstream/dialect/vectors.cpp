#include "upstream/dialect/vectors.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "upstream/base/base64.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;

void append_bits(std::string& out, std::uint32_t bits) {
    static constexpr char hex[] = "0123456789abcdef";
    for (unsigned shift = 32; shift > 0; shift -= 4) out += hex[bits >> (shift - 4) & 15U];
}

// Hexadecimal bits of the numbers; nullopt if the value is no vector of numbers.
std::optional<std::string> vector_bits(dom::element value) {
    std::string out;
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS) {
        const auto bytes = base64_bytes(text);
        if (!bytes || bytes->size() % 4 != 0) return std::nullopt;
        for (std::size_t i = 0; i < bytes->size(); i += 4) {
            std::uint32_t bits = 0;
            for (std::size_t k = 4; k > 0; --k) bits = bits << 8U | static_cast<unsigned char>((*bytes)[i + k - 1]);
            append_bits(out, bits);
        }
        return out;
    }
    dom::array numbers;
    if (value.get_array().get(numbers) != simdjson::SUCCESS) return std::nullopt;
    for (const dom::element element : numbers) {
        double number = 0;
        if (element.get_double().get(number) != simdjson::SUCCESS) return std::nullopt;
        append_bits(out, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
    }
    return out;
}

}  // namespace

bool holds_vector(dom::element value) {
    dom::array items;
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS) return !text.empty() && base64_bytes(text);
    if (value.get_array().get(items) != simdjson::SUCCESS || items.begin() == items.end()) return false;
    return std::ranges::all_of(
        items, [](dom::element item) { return item.is_number() || (item.is_array() && holds_vector(item)); });
}

void append_vectors(std::string& out, dom::element value) {
    dom::array items;
    if (const auto bits = vector_bits(value)) {
        append_json_string(out, *bits);
    } else if (value.get_array().get(items) == simdjson::SUCCESS) {
        char separator = '[';
        for (const dom::element item : items) {
            out += separator;
            separator = ',';
            append_vectors(out, item);
        }
        out += ']';
    } else {
        append_value(out, value);
    }
}

}  // namespace idem::upstream::dialect
