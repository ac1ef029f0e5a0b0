// llama.cpp's completion and infill: POST /completion, /completions where the engine is llama.cpp (llamacpp_common says
// when), and POST /infill. A stream ends with the event of each result that says `"stop":true`; there is no [DONE].
// Errors are OpenAI's.
#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/llamacpp_common.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace llamacpp {
namespace {

// None of these reaches the model.
constexpr std::string_view ignored[] = {
    // presentation
    "/stream", "/timings_per_token", "/return_progress", "/sse_ping_interval",
    // where the prompt's prefix is kept
    "/id_slot", "/cache_prompt", "/n_cache_reuse",
    // LiteLLM's cache control
    "/cache"};

// Here the order of keys reaches the output grammar.
constexpr std::string_view order_kept[] = {"/json_schema"};

// A list of prompts holds texts, or lists of texts and token ids; the others are infill's.
constexpr std::string_view prompt_text[] = {"/prompt",       "/prompt/*",     "/prompt/*/*",
                                            "/input_prefix", "/input_suffix", "/input_extra/*/text"};

// Read as "choose a random seed".
constexpr double random_seed_signed = -1;
constexpr double random_seed_unsigned = 4294967295.0;

}  // namespace

body_rules completion_rules() noexcept {
    return {ignored, order_kept, prompt_text};
}

call read_completion(std::string_view body) {
    call c;
    unsigned prompts = 1;
    json_members members(body);
    while (members.next()) {
        const std::string_view value = members.value();
        const auto is = [key = members.key()](std::string_view name) { return key_is(key, name); };
        if (value == "null") continue;
        read_cache_member(c, members.key(), value);
        if (is("model")) {
            native::read_model(c, value);
        } else if (is("stream")) {
            read_stream(c, value, form::sse);
        } else if (is("prompt")) {
            prompts = openai::count_inputs(value);
        } else if (is("n_cmpl") || is("n")) {
            const double n = number_value(value).value_or(1);
            if (n >= 1 && n <= 65536) c.choices = static_cast<unsigned>(n);
        } else if (is("n_predict") || is("max_tokens")) {
            c.limit_set = native::positive(value);
            // Reads the prompt into the server's cache, and that is all.
            if (number_value(value) == 0.0) bypass(c, reason::no_generation);
        } else if (is("seed")) {
            const auto seed = number_value(value);
            c.seeded = seed && *seed != random_seed_signed && *seed != random_seed_unsigned;
        } else if (is("temperature")) {
            c.greedy = number_value(value).value_or(1) <= 0;
        } else if (is("t_max_predict_ms")) {
            if (native::positive(value)) bypass(c, reason::time_dependent_call);
        }
    }
    openai::multiply_choices(c, prompts);
    return c;
}

}  // namespace llamacpp

namespace {

class completion final : public native::two_forms<native::endpoint> {
public:
    completion(std::string_view name, std::string_view path) noexcept
        : two_forms(name, path, {llamacpp::fold, llamacpp::split, llamacpp::normalised}) {}
    bool minds_content_type() const noexcept override { return false; }
    body_rules rules() const noexcept override { return llamacpp::completion_rules(); }
    call read(std::string_view body) const override { return llamacpp::read_completion(body); }
    std::unique_ptr<watcher> watch(form f, const call& c) const override { return llamacpp::watch_completion(f, c); }
};

}  // namespace

const dialect& llamacpp_completion() noexcept {
    static const completion instance("llamacpp.completion", "/completion");
    return instance;
}

const dialect& llamacpp_infill() noexcept {
    static const completion instance("llamacpp.infill", "/infill");
    return instance;
}

}  // namespace idem::upstream::dialect
