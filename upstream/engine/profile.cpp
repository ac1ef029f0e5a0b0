#include "upstream/engine/profile.hpp"

#include <algorithm>
#include <array>

#include "upstream/engine/words.hpp"

namespace idem::upstream::engine {

std::span<const profile* const> all() noexcept {
    static constexpr std::array<const profile*, 13> profiles = {&anthropic, &azure,   &gemini, &generic, &llamacpp,
                                                                &lmdeploy,  &mistral, &ollama, &openai,  &sglang,
                                                                &tgi,       &trtllm,  &vllm};
    return profiles;
}

bool known(std::string_view name) noexcept {
    return find(name) != nullptr;
}

const profile* find(std::string_view name) noexcept {
    const auto profiles = all();
    const auto at = std::find_if(profiles.begin(), profiles.end(), [&](const profile* p) { return p->name == name; });
    return at == profiles.end() ? nullptr : *at;
}

const request_form* profile::form_of(std::string_view dialect) const noexcept {
    const auto at = std::ranges::find_if(requests, [&](const request_form& f) { return lists(f.dialects, dialect); });
    return at == requests.end() ? nullptr : &*at;
}

bool samples(std::string_view dialect) noexcept {
    return !lists(
        "openai.embeddings|openai.moderations|anthropic.count_tokens|gemini.count_tokens|gemini.embed|"
        "gemini.batch_embed|ollama.embed|ollama.embeddings|llamacpp.embedding|rerank|tokenize",
        dialect);
}

}  // namespace idem::upstream::engine
