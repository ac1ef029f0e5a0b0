#include "upstream/dialect/registry.hpp"

#include <array>

#include "upstream/dialect/openai_common.hpp"

namespace idem::upstream::dialect {

std::span<const dialect* const> all() noexcept {
    // Of those that share a path or a name the first is found.
    static const std::array list = {&openai_chat(),
                                    &openai_completions(),
                                    &openai_embeddings(),
                                    &anthropic_messages(),
                                    &anthropic_count_tokens(),
                                    &openai_responses(),
                                    &openai_moderations(),
                                    &openai_images(),
                                    &openai_speech(),
                                    &mistral_fim(),
                                    &gemini_generate(),
                                    &gemini_count_tokens(),
                                    &gemini_embed(),
                                    &gemini_batch_embed(),
                                    &ollama_chat(),
                                    &ollama_generate(),
                                    &ollama_embed(),
                                    &ollama_embeddings(),
                                    &llamacpp_completion(),
                                    &llamacpp_infill(),
                                    &llamacpp_embedding(),
                                    &rerank_documents(),
                                    &tokenize_text(),
                                    &sglang_generate(),
                                    &tgi_generate(),
                                    &tgi_generate_stream(),
                                    &tgi_root(),
                                    &openai_short_completions(),
                                    &openai_short_embeddings()};
    return list;
}

const dialect* find(std::string_view method, std::string_view path) noexcept {
    for (const dialect* d : all()) {
        if (d->matches(method, path)) return d;
    }
    return nullptr;
}

const dialect* by_name(std::string_view name) noexcept {
    for (const dialect* d : all()) {
        if (d->name() == name) return d;
    }
    return nullptr;
}

std::string error_body(std::string_view path, unsigned status, reason why, std::string_view message) {
    for (const dialect* d : all()) {
        if (d->shapes_errors_of(path)) return d->error_body(status, why, message);
    }
    return openai::error_body(status, why, message);
}

std::string_view content_type(form f) noexcept {
    switch (f) {
        case form::json:
        case form::json_base64:
            return "application/json";
        case form::sse:
            return "text/event-stream";
        case form::ndjson:
            return "application/x-ndjson";
    }
    return "application/octet-stream";
}

}  // namespace idem::upstream::dialect
