// OpenAI legacy completions.
#include "upstream/dialect/json_text.hpp"
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
                                        "/routed_dp_rank", "/data_parallel_rank", "/disagg_prefill_dp_rank"};

// Here the order of keys reaches the output grammar.
constexpr std::string_view order_kept[] = {"/response_format/json_schema/schema",
                                           "/response_format/schema",
                                           "/response_format/structures/*/schema",
                                           "/json_schema",
                                           "/guided_json",
                                           "/structured_outputs"};

class completions final : public openai::choices_endpoint {
public:
    completions() noexcept
        : choices_endpoint(
              "openai.completions", "/v1/completions",
              {"text", openai::fold_completions, openai::split_completions, openai::normalised_completions}) {}
    body_rules rules() const noexcept override { return {ignored, order_kept}; }

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

}  // namespace

const dialect& openai_completions() noexcept {
    static const completions instance;
    return instance;
}

}  // namespace idem::upstream::dialect
