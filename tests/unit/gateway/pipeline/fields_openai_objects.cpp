// Fields of OpenAI's moderations, images and speech, as the official SDKs declare them, and of Mistral's FIM
// completions.
#include "tests/unit/gateway/pipeline/fields.hpp"

namespace idem::gateway::pipeline::fields {
namespace {

constexpr std::string_view moderation_body =
    R"({"model":"omni-moderation-latest","input":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,"}}]})";

constexpr counted moderation_counts[] = {
    {"/model", R"("n")", R"("M")"},
    {"/input", R"("a")", R"(["a"])"},
    {"/input/0/text", R"("A")", R"("")"},
    {"/input/1/image_url/url", R"("data:,a")", R"("data:,b")"},
};

constexpr ignored moderation_ignores[] = {
    {"/user", R"("a")", R"("b")"},
    {"/metadata", R"({"a":"b"})", "{}"},
    {"/cache", R"({"no-cache":true})", "{}"},
};

constexpr std::string_view image_body = R"({"model":"gpt-image-2","prompt":"a cat","size":"1024x1024"})";

constexpr counted image_counts[] = {
    {"/model", R"("n")", R"("M")"},
    {"/prompt", R"("a Cat")", R"("a cat ")"},
    {"/background", R"("opaque")", R"("transparent")"},
    {"/complexity", R"("low")", R"("high")"},
    {"/frame_count", "1", "2"},
    {"/frame_duration_ms", "10", "20"},
    {"/moderation", R"("low")", R"("auto")"},
    {"/n", "1", "2"},
    {"/output_compression", "50", "51"},
    {"/output_format", R"("png")", R"("webp")"},
    {"/partial_images", "0", "1"},
    {"/quality", R"("high")", R"("low")"},
    {"/response_format", R"("b64_json")", R"("other")"},
    {"/seed", "1", "2"},
    {"/size", R"("auto")", R"("256x256")"},
    {"/stream", "false", "0"},
    {"/style", R"("vivid")", R"("natural")"},
    {"/svg", R"({"a":1})", R"({"a":2})"},
};

constexpr ignored image_ignores[] = {
    {"/user", R"("a")", R"("b")"},
    {"/safety_identifier", R"("a")", R"("b")"},
    {"/metadata", R"({"a":"b"})", "{}"},
    {"/cache", R"({"no-cache":true})", "{}"},
};

constexpr bypassing image_bypasses[] = {
    {"/stream", "true", reason::form_unsupported},
    {"/response_format", R"("url")", reason::stateful_call},
};

constexpr std::string_view speech_body = R"({"model":"tts-1","input":"a","voice":"alloy"})";

constexpr std::string_view fim_body = R"({"model":"codestral-latest","prompt":"def f(","suffix":"return a"})";

constexpr counted fim_counts[] = {
    {"/model", R"("n")", R"("M")"},
    {"/prompt", R"("def f( ")", R"("def g(")"},
    {"/suffix", R"("")", R"("return b")"},
    {"/temperature", "0", "0.0004"},
    {"/top_p", "0.9991", "0.9999"},
    {"/max_tokens", "10", "11"},
    {"/min_tokens", "1", "2"},
    {"/random_seed", "9007199254740992", "9007199254740993"},
    {"/stop", R"("a")", R"(["a"])"},
};

constexpr ignored fim_ignores[] = {
    {"/stream", "true", "false"},
    {"/metadata", R"({"a":"b"})", "{}"},
    {"/prompt_cache_key", R"("a")", R"("b")"},
    {"/cache", R"({"no-cache":true})", "{}"},
};

constexpr std::string_view headers[] = {"openai-beta"};

constexpr table all[] = {
    {"openai.moderations", "/v1/moderations", moderation_body, moderation_counts, moderation_ignores, {}, {}, headers},
    {"openai.images", "/v1/images/generations", image_body, image_counts, image_ignores, image_bypasses, {}, headers},
    {"openai.speech", "/v1/audio/speech", speech_body, {}, {}, {}, {}, headers, reason::form_unsupported},
    {"mistral.fim", "/v1/fim/completions", fim_body, fim_counts, fim_ignores, {}, {}, headers},
};

}  // namespace

std::span<const table> openai_objects() {
    return all;
}

}  // namespace idem::gateway::pipeline::fields
