// The embeddings answer of the simulated engine.
#include <bit>
#include <charconv>
#include <vector>

#include "upstream/base/base64.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

constexpr std::uint64_t default_dimensions = 8;

std::vector<float> vector_for(std::uint64_t state, std::uint64_t dimensions) {
    std::vector<float> out;
    out.reserve(dimensions);
    for (std::uint64_t i = 0; i < dimensions; ++i) {
        const auto draw = static_cast<double>(mix(state + i) >> 11U) / 9007199254740992.0;
        out.push_back(static_cast<float>(draw * 2 - 1));
    }
    return out;
}

// Little-endian single precision, as OpenAI's API encodes it.
std::string base64(const std::vector<float>& values) {
    std::string bytes;
    bytes.reserve(values.size() * 4);
    for (const float value : values) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 255U);
    }
    return base64_of(bytes);
}

std::string decimals(const std::vector<float>& values) {
    std::string out = "[";
    for (const float value : values) {
        if (out.size() > 1) out += ',';
        char text[32];
        const auto end = std::to_chars(text, text + sizeof text, value).ptr;
        out.append(text, end);
    }
    return out + "]";
}

}  // namespace

std::vector<std::string> vector_texts(const asked& a) {
    std::vector<std::string> out;
    for (const std::string_view input : a.inputs) {
        out.push_back(decimals(
            vector_for(mix(a.vector_state ^ meaning(input)), a.dimensions == 0 ? default_dimensions : a.dimensions)));
    }
    return out;
}

std::string embeddings_object(const asked& a) {
    const std::uint64_t dimensions = a.dimensions == 0 ? default_dimensions : a.dimensions;
    const std::uint64_t base = a.vector_state;
    std::string out = R"({"object":"list","data":[)";
    for (std::size_t i = 0; i < a.inputs.size(); ++i) {
        const auto values = vector_for(mix(base ^ meaning(a.inputs[i])), dimensions);
        out += i > 0 ? R"(,{"object":"embedding","index":)" : R"({"object":"embedding","index":)";
        out += std::to_string(i) + R"(,"embedding":)";
        if (a.base64) {
            out += '"' + base64(values) + '"';
        } else {
            out += decimals(values);
        }
        out += '}';
    }
    out += R"(],"model":)";
    dialect::append_json_string(out, a.model);
    out += R"(,"usage":{"prompt_tokens":)" + std::to_string(a.prompt_tokens) + R"(,"total_tokens":)" +
           std::to_string(a.prompt_tokens) + "}}";
    return out;
}

}  // namespace idem::upstream::simulate
