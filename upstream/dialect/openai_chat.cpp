// OpenAI chat completions, as OpenAI, vLLM, SGLang, llama.cpp and many others speak it.
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/mistral.hpp"
#include "upstream/dialect/openai_choices.hpp"
#include "upstream/dialect/openai_normal.hpp"
#include "upstream/dialect/openai_split.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

// None of these reaches the model. `store` may be here because a call with store:true is never cached.
constexpr std::string_view ignored[] = {
    // presentation
    "/stream", "/stream_options", "/stream_interval",
    // labels and abuse ids
    "/user", "/safety_identifier", "/metadata", "/store",
    // the provider's own prefix cache and speed-up
    "/prompt_cache_key", "/prompt_cache_options", "/prompt_cache_retention",
    "/messages/*/content/*/prompt_cache_breakpoint", "/prediction",
    // LiteLLM's cache control
    "/cache",
    // vLLM: scheduling and transport
    "/request_id", "/session_id", "/priority", "/kv_transfer_params", "/ec_transfer_params", "/return_mm_kwargs",
    // SGLang: scheduling and transport
    "/rid", "/bootstrap_host", "/bootstrap_port", "/bootstrap_room", "/routed_dp_rank", "/data_parallel_rank",
    "/disagg_prefill_dp_rank",
    // who may share a prefix cache: part of the scope
    "/cache_salt", "/extra_key"};

// Here the order of keys reaches the prompt (chat templates print them) or the output grammar.
constexpr std::string_view order_kept[] = {"/tools/*/function/parameters",
                                           "/tools/*/parameters",
                                           "/tools/*/input_schema",
                                           "/functions/*/parameters",
                                           "/response_format/json_schema/schema",
                                           "/response_format/schema",
                                           "/response_format/structures/*/schema",
                                           "/messages/*/tool_calls/*/function/arguments",
                                           "/format",
                                           "/json_schema",
                                           "/guided_json",
                                           "/structured_outputs",
                                           "/documents",
                                           "/chat_template_kwargs"};

constexpr std::string_view prompt_text[] = {"/messages/*/content", "/messages/*/content/*/text"};

class chat final : public openai::choices_endpoint {
public:
    chat() noexcept
        : choices_endpoint("openai.chat", "/v1/chat/completions",
                           {"message", openai::fold_chat, openai::split_chat, openai::normalised_chat}) {}
    body_rules rules() const noexcept override { return {ignored, order_kept, prompt_text}; }

    call read(std::string_view body) const override {
        call c;
        std::string_view model;
        json_members members(body);
        while (members.next()) {
            if (key_is(members.key(), "model")) {
                model = members.value();
            } else {
                openai::read_shared_member(c, members.key(), members.value());
            }
        }
        openai::read_model(c, model);
        return c;
    }

    std::optional<std::string> ask_usage(std::string_view body) const override {
        return mistral::is_theirs(body) ? std::nullopt : openai::ask_usage(body);
    }
    std::optional<std::string> split(std::string_view object, bool include_usage) const override {
        if (!include_usage && mistral::is_theirs(object)) return mistral::split_chat(object, include_usage);
        return choices_endpoint::split(object, include_usage);
    }
};

}  // namespace

const dialect& openai_chat() noexcept {
    static const chat instance;
    return instance;
}

}  // namespace idem::upstream::dialect
