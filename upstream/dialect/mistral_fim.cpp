// Mistral's completions with a hole to fill, POST /v1/fim/completions. The answer is made of chat choices, in both
// forms; a stream brings its usage without being asked, and the server refuses to be asked (see mistral.hpp).
//
// Mistral's chat completions and embeddings are OpenAI's dialects: `random_seed` is a seed there, `safe_prompt`,
// `prompt_mode` and `guardrails` count like every field, and tools that Mistral runs forbid caching.
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/mistral.hpp"
#include "upstream/dialect/openai_choices.hpp"
#include "upstream/dialect/openai_normal.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

// None of these reaches the model.
constexpr std::string_view ignored[] = {"/stream", "/metadata", "/prompt_cache_key", "/cache"};

constexpr std::string_view prompt_text[] = {"/prompt", "/suffix"};

class fim final : public openai::choices_endpoint {
public:
    fim() noexcept
        : choices_endpoint("mistral.fim", "/v1/fim/completions",
                           {"message", openai::fold_chat, mistral::split_chat, openai::normalised_chat}) {}
    body_rules rules() const noexcept override { return {ignored, {}, prompt_text}; }

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

    std::optional<std::string> ask_usage(std::string_view) const override { return std::nullopt; }
};

}  // namespace

const dialect& mistral_fim() noexcept {
    static const fim instance;
    return instance;
}

}  // namespace idem::upstream::dialect
