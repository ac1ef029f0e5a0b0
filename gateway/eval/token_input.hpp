#pragma once
// Prompts as token ids, so that no template, tokenizer or clock stands between what is asked and what the model reads.
// Which endpoints make them, and which take them: vLLM and SGLang have POST /tokenize for a text or a conversation
// (vllm/entrypoints/serve/tokenize/protocol.py; sglang/srt/entrypoints/openai/protocol.py, whose older versions know
// texts alone); llama.cpp has POST /apply-template and POST /tokenize (tools/server/README.md). All three take a list
// of ids as `prompt` of completions. Pure; any thread.
#include <optional>
#include <string>
#include <string_view>

#include "gateway/eval/record.hpp"

namespace idem::gateway::eval {

/// "vllm, sglang, llamacpp".
inline constexpr std::string_view engines_with_tokens = "vllm, sglang, llamacpp";
[[nodiscard]] bool takes_tokens(std::string_view engine) noexcept;

/// A call that is needed to make ids of a prompt; of the pages beside the API.
struct token_call {
    std::string path, body;
};
/// The next call: after none (`answer` empty), or after that answer. Absent: the answer has the ids, or `why` says what
/// is wrong with the prompt or the answer.
[[nodiscard]] std::optional<token_call> next_token_call(std::string_view engine, const prompt& p,
                                                        std::string_view model, std::string_view answer,
                                                        std::string& why);
/// The prompt with the ids of the last answer, as a completion that also tells the ids of what it answers, where the
/// engine can. Absent: `why` says what is wrong.
[[nodiscard]] std::optional<prompt> with_token_ids(std::string_view engine, const prompt& p, std::string_view answer,
                                                   std::string& why);
/// Whether it is one already.
[[nodiscard]] bool has_token_ids(const prompt& p);

}  // namespace idem::gateway::eval
