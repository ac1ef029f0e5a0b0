// OpenAI's plain objects: moderations, images and speech.
#include "upstream/base/base64.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/text.hpp"

namespace idem::upstream::simulate {
namespace {

using dialect::append_json_string;

void append_little_endian(std::string& out, std::uint32_t value, unsigned bytes) {
    for (unsigned shift = 0; shift < bytes * 8; shift += 8) out += static_cast<char>(value >> shift & 255U);
}

}  // namespace

std::string moderation_object(const asked& a, const answer_facts& f) {
    std::string out = R"({"id":)";
    append_json_string(out, f.id);
    out += R"(,"model":)";
    append_json_string(out, f.model);
    out += R"(,"results":[)";
    // Parts of different kinds are one input.
    const bool texts = dialect::kind_of(a.inputs.front()) == dialect::json_kind::string;
    for (std::size_t i = 0; i < (texts ? a.inputs.size() : 1); ++i) {
        const std::uint64_t score = mix(a.vector_state ^ meaning(a.inputs[i])) % 100;
        out += i > 0 ? "," : "";
        out += score > 90 ? R"({"flagged":true,"categories":{"violence":true})"
                          : R"({"flagged":false,"categories":{"violence":false})";
        out += R"(,"category_scores":{"violence":0.)" + std::to_string(score + 100).substr(1);
        out += R"(},"category_applied_input_types":{"violence":["text"]}})";
    }
    return out + "]}";
}

std::string images_object(const asked& a, const answer_facts& f) {
    std::string out = R"({"created":)" + std::to_string(f.created) + R"(,"data":[)";
    for (unsigned k = 0; k < a.n; ++k) {
        out += k > 0 ? R"(,{"b64_json":)" : R"({"b64_json":)";
        append_json_string(out, base64_of("an image of " + words(mix(a.state + k), 1).front()));
        out += '}';
    }
    out += R"(],"usage":{"input_tokens":)" + std::to_string(a.prompt_tokens) + R"(,"output_tokens":)" +
           std::to_string(a.n) + R"(,"total_tokens":)" + std::to_string(a.prompt_tokens + a.n);
    return out + R"(,"input_tokens_details":{"text_tokens":)" + std::to_string(a.prompt_tokens) +
           R"(,"image_tokens":0}}})";
}

// A tenth of a second of noise: one channel, 8 kHz, 8 bits (RIFF WAVE).
std::string speech_audio(const asked& a) {
    constexpr std::uint32_t samples = 800;
    std::string out = "RIFF";
    append_little_endian(out, 36 + samples, 4);
    out += "WAVEfmt ";
    append_little_endian(out, 16, 4);
    append_little_endian(out, 1, 2);  // PCM
    append_little_endian(out, 1, 2);
    append_little_endian(out, 8000, 4);
    append_little_endian(out, 8000, 4);
    append_little_endian(out, 1, 2);
    append_little_endian(out, 8, 2);
    out += "data";
    append_little_endian(out, samples, 4);
    for (std::uint32_t i = 0; i < samples; ++i) out += static_cast<char>(mix(a.state + i) & 255U);
    return out;
}

}  // namespace idem::upstream::simulate
