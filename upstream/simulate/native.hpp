#pragma once
// The simulated engine under the native APIs of local engines: Ollama's /api/chat, /api/generate, /api/embed and
// /api/embeddings; llama.cpp's /completion, /infill, /embedding; reranking and tokenising; SGLang's /generate; TGI's
// /generate, /generate_stream and /. Sans-I/O, any thread.
#include <string_view>

#include "upstream/simulate/script.hpp"

namespace idem::upstream::simulate {

[[nodiscard]] bool is_native_call(std::string_view method, std::string_view path) noexcept;
/// `body` is whole.
[[nodiscard]] answer native_answer(const simulate_options& options, std::string_view path, std::string_view body,
                                   const chance& luck);

}  // namespace idem::upstream::simulate
