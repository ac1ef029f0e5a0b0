// OpenAI legacy completions. Under `/completions` without `/v1` a llama.cpp server speaks its own API: there a dialect
// of the same name, with a path of its own in the digest, asks which engine it is.
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/llamacpp_common.hpp"
#include "upstream/dialect/openai_choices.hpp"
#include "upstream/dialect/openai_normal.hpp"
#include "upstream/dialect/openai_split.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

// None of these reaches the model: presentation, labels, cache control, and the engines' scheduling and transport.
constexpr std::string_view ignored[] = {"/stream", "/stream_options", "/stream_interval", "/user", "/cache",
                                        // vLLM
                                        "/request_id", "/session_id", "/priority", "/kv_transfer_params",
                                        "/ec_transfer_params",
                                        // SGLang
                                        "/rid", "/bootstrap_host", "/bootstrap_port", "/bootstrap_room",
                                        "/routed_dp_rank", "/data_parallel_rank", "/disagg_prefill_dp_rank",
                                        // who may share a prefix cache: part of the scope
                                        "/cache_salt", "/extra_key"};

// Here the order of keys reaches the output grammar.
constexpr std::string_view order_kept[] = {"/response_format/json_schema/schema",
                                           "/response_format/schema",
                                           "/response_format/structures/*/schema",
                                           "/json_schema",
                                           "/guided_json",
                                           "/structured_outputs"};

constexpr std::string_view prompt_text[] = {"/prompt", "/prompt/*", "/suffix"};

class completions : public openai::choices_endpoint {
public:
    explicit completions(std::string_view path) noexcept
        : choices_endpoint(
              "openai.completions", path,
              {"text", openai::fold_completions, openai::split_completions, openai::normalised_completions},
              openai::spelling::exact) {}
    body_rules rules() const noexcept override { return {ignored, order_kept, prompt_text}; }

    call read(std::string_view body) const override {
        call c;
        std::string_view model;
        json_members members(body);
        while (members.next()) {
            if (key_is(members.key(), "model")) {
                model = members.value();
            } else if (key_is(members.key(), "prompt")) {
                openai::multiply_choices(c, openai::count_inputs(members.value()));
            } else {
                openai::read_shared_member(c, members.key(), members.value());
            }
        }
        openai::read_model(c, model);
        return c;
    }
};

class short_completions final : public completions {
public:
    short_completions() noexcept : completions("/completions") {}
    bool shares_path() const noexcept override { return true; }
    const dialect& meant(std::string_view engine, std::string_view) const override {
        return engine == llamacpp::engine_name ? llamacpp_completion() : *this;
    }
};

}  // namespace

const dialect& openai_completions() noexcept {
    static const completions instance("/v1/completions");
    return instance;
}

const dialect& openai_short_completions() noexcept {
    static const short_completions instance;
    return instance;
}

}  // namespace idem::upstream::dialect
