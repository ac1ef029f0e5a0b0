#include "upstream/dialect/ollama_common.hpp"

#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect::ollama {
namespace {

// None of these reaches the model.
constexpr std::string_view ignored[] = {
    // presentation, and how long the model stays in memory afterwards
    "/stream", "/keep_alive",
    // LiteLLM's cache control
    "/cache",
    // where and how fast the model runs
    "/options/num_thread", "/options/num_gpu", "/options/main_gpu", "/options/num_batch", "/options/use_mmap",
    "/options/draft_num_predict"};

// Here the order of keys reaches the prompt (templates print tools and arguments) or the output grammar.
constexpr std::string_view order_kept[] = {"/format", "/tools/*/function/parameters",
                                           "/messages/*/tool_calls/*/function/arguments"};

// Of all calls together: each has some of them.
constexpr std::string_view prompt_text[] = {"/prompt", "/suffix", "/system", "/messages/*/content",
                                            "/input",  "/input/*"};

// Ollama reads it as "choose a random seed".
constexpr double random_seed = -1;

void read_options(call& c, std::string_view options) {
    json_members members(options);
    while (members.next()) {
        const std::string_view value = members.value();
        if (key_is(members.key(), "seed")) {
            const auto seed = number_value(value);
            c.seeded = seed && *seed != random_seed;
        } else if (key_is(members.key(), "temperature")) {
            c.greedy = number_value(value) == 0.0;
        } else if (key_is(members.key(), "num_predict")) {
            c.limit_set = native::positive(value);
        }
    }
}

// `code` is ours: clients read `error`, and hand the rest to the application as it is.
std::string error_object(reason why, std::string_view message) {
    std::string out = R"({"error":)";
    append_json_string(out, message);
    out += R"(,"code":)";
    append_json_string(out, to_string(why));
    return out + "}";
}

}  // namespace

body_rules endpoint::rules() const noexcept {
    return {ignored, order_kept, prompt_text};
}

std::string endpoint::error_body(unsigned, reason why, std::string_view message) const {
    return error_object(why, message);
}

std::string endpoint::error_event(reason why, std::string_view message) const {
    return error_object(why, message) + "\n";
}

call read_request(std::string_view body, std::string_view input, bool streams) {
    call c;
    bool asks = false;
    if (streams) c.wanted = form::ndjson;
    json_members members(body);
    while (members.next()) {
        const std::string_view value = members.value();
        const auto is = [key = members.key()](std::string_view name) { return key_is(key, name); };
        read_cache_member(c, members.key(), value);
        if (is("model")) {
            native::read_model(c, value);
        } else if (is("stream")) {
            if (streams) read_stream(c, value, form::ndjson);
        } else if (is("options")) {
            read_options(c, value);
        } else if (is("_debug_render_only")) {
            if (native::truthy(value)) bypass(c, reason::no_generation);
        } else if (is(input)) {
            asks = !native::nothing(value);
        }
    }
    if (c.model.empty()) bypass(c, reason::missing_model);
    if (!asks) bypass(c, reason::no_generation);
    return c;
}

}  // namespace idem::upstream::dialect::ollama
