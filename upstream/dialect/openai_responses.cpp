// OpenAI responses, POST /v1/responses, as OpenAI, vLLM, llama.cpp, Ollama and others speak it.
//
// Bypassed: calls that continue or create what the server holds (previous_response_id, conversation, background,
// prompt) and tools that the provider runs. `store` counts: absent means true there, and then a hit replays an id that
// exists at the provider for the credential that made it, as long as the provider keeps it (OpenAI: 30 days).
// A stream ends with response.completed, response.incomplete or response.failed; each carries the whole object.
// Errors: OpenAI's object; the event is `error`, with OpenAI's object inside, which every SDK version throws.
#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/openai_common.hpp"
#include "upstream/dialect/openai_responses_convert.hpp"
#include "upstream/dialect/openai_responses_watch.hpp"
#include "upstream/dialect/read_call.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

// None of these reaches the model.
constexpr std::string_view ignored[] = {
    // presentation
    "/stream", "/stream_options",
    // labels and abuse ids
    "/user", "/safety_identifier", "/metadata", "/client_metadata",
    // the provider's own prefix cache
    "/prompt_cache_key", "/prompt_cache_options", "/prompt_cache_retention",
    "/input/*/content/*/prompt_cache_breakpoint",
    // LiteLLM's cache control
    "/cache",
    // vLLM and SGLang: scheduling
    "/request_id", "/session_id", "/priority", "/rid", "/data_parallel_rank"};

// Here the order of keys reaches the prompt or the output grammar.
constexpr std::string_view order_kept[] = {"/tools/*/parameters", "/tools/*/tools/*/parameters", "/text/format/schema",
                                           "/structured_outputs", "/chat_template_kwargs"};

constexpr std::string_view prompt_text[] = {"/instructions",         "/input",
                                            "/input/*/content",      "/input/*/content/*/text",
                                            "/input/*/output",  // of a tool
                                            "/input/*/output/*/text"};

// Items of the input may stand for what the server holds, or bring tools.
void read_input(call& c, std::string_view input) {
    if (kind_of(input) != json_kind::array) return;
    json_items items(input);
    while (items.next()) {
        const std::string_view type = string_inner(find_member(items.value(), "type"));
        if (type == "item_reference") bypass(c, reason::stateful_call);
        if (type == "additional_tools") openai::read_tools(c, find_member(items.value(), "tools"));
    }
}

void read_member(call& c, std::string_view key, std::string_view value) {
    const auto is = [key](std::string_view name) { return key_is(key, name); };
    if (value == "null") return;
    read_cache_member(c, key, value);
    if (is("stream")) {
        read_stream(c, value, form::sse);
    } else if (is("max_output_tokens")) {
        c.limit_set = true;
    } else if (is("previous_response_id") || is("conversation") || is("background_options") || is("prompt")) {
        bypass(c, reason::stateful_call);
    } else if (is("background")) {
        if (value != "false") bypass(c, reason::stateful_call);
    } else if (is("input")) {
        read_input(c, value);
    } else if (is("tools")) {
        openai::read_tools(c, value);
    } else if (is("temperature") || is("seed")) {
        openai::read_shared_member(c, key, value);
    }
}

class responses final : public openai::endpoint {
public:
    responses() noexcept : endpoint("openai.responses", "/v1/responses") {}
    body_rules rules() const noexcept override { return {ignored, order_kept, prompt_text}; }

    call read(std::string_view body) const override {
        call c;
        std::string_view model;
        json_members members(body);
        while (members.next()) {
            if (key_is(members.key(), "model")) {
                model = members.value();
            } else {
                read_member(c, members.key(), members.value());
            }
        }
        openai::read_model(c, model);
        return c;
    }

    std::unique_ptr<watcher> watch(form f, const call&) const override { return openai::watch_response(f); }
    std::optional<std::string> ask_usage(std::string_view) const override { return std::nullopt; }
    std::optional<std::string> assemble(std::string_view stream) const override {
        return openai::fold_response(stream);
    }
    std::optional<std::string> split(std::string_view object, bool) const override {
        return openai::split_response(object);
    }
    std::optional<std::string> normalised(form f, std::string_view body) const override {
        if (f != form::sse) return openai::normalised_response(body);
        const auto object = openai::fold_response(body);
        return object ? openai::normalised_response(*object) : std::nullopt;
    }
    std::string error_event(reason why, std::string_view message) const override {
        // The flat members are the published schema, the nested ones what SDKs throw; the number is not known here.
        std::string out = "event: error\ndata: {\"type\":\"error\",\"code\":";
        append_json_string(out, to_string(why));
        out += R"(,"message":)";
        append_json_string(out, message);
        out += R"(,"param":null,"sequence_number":0,)";
        return out.append(std::string_view(openai::error_body(500, why, message)).substr(1)) + "\n\n";
    }
};

}  // namespace

const dialect& openai_responses() noexcept {
    static const responses instance;
    return instance;
}

}  // namespace idem::upstream::dialect
