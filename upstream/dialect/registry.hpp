#pragma once
// The dialects that registry.cpp lists; each is defined in the file of its name.
#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect {

[[nodiscard]] const dialect& openai_chat() noexcept;
[[nodiscard]] const dialect& openai_completions() noexcept;
[[nodiscard]] const dialect& openai_embeddings() noexcept;
[[nodiscard]] const dialect& openai_responses() noexcept;
[[nodiscard]] const dialect& openai_moderations() noexcept;
[[nodiscard]] const dialect& openai_images() noexcept;
[[nodiscard]] const dialect& openai_speech() noexcept;
[[nodiscard]] const dialect& mistral_fim() noexcept;
[[nodiscard]] const dialect& anthropic_messages() noexcept;
[[nodiscard]] const dialect& anthropic_count_tokens() noexcept;
[[nodiscard]] const dialect& gemini_generate() noexcept;
[[nodiscard]] const dialect& gemini_count_tokens() noexcept;
[[nodiscard]] const dialect& gemini_embed() noexcept;
[[nodiscard]] const dialect& gemini_batch_embed() noexcept;
[[nodiscard]] const dialect& ollama_chat() noexcept;
[[nodiscard]] const dialect& ollama_generate() noexcept;
[[nodiscard]] const dialect& ollama_embed() noexcept;
[[nodiscard]] const dialect& ollama_embeddings() noexcept;
[[nodiscard]] const dialect& llamacpp_completion() noexcept;
[[nodiscard]] const dialect& llamacpp_infill() noexcept;
[[nodiscard]] const dialect& llamacpp_embedding() noexcept;
[[nodiscard]] const dialect& rerank_documents() noexcept;
[[nodiscard]] const dialect& tokenize_text() noexcept;
[[nodiscard]] const dialect& sglang_generate() noexcept;
[[nodiscard]] const dialect& tgi_generate() noexcept;
[[nodiscard]] const dialect& tgi_generate_stream() noexcept;
[[nodiscard]] const dialect& tgi_root() noexcept;
/// `/completions` and `/embeddings`, which are not OpenAI's on every engine.
[[nodiscard]] const dialect& openai_short_completions() noexcept;
[[nodiscard]] const dialect& openai_short_embeddings() noexcept;

}  // namespace idem::upstream::dialect
