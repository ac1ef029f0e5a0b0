#pragma once
// Puts generated tokens into the JSON, the lines and the events of local engines' own APIs. Sans-I/O, any thread.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/simulate/render.hpp"
#include "upstream/simulate/render_parts.hpp"

namespace idem::upstream::simulate {

/// What an answer says about itself. `noise` is what differs from answer to answer: durations.
struct native_facts {
    std::string model, id;
    std::int64_t now = 0;
    std::uint64_t noise = 0;
    std::string_view body;       // of the request
    std::string weight_version;  // of SGLang
};

/// The first piece of a stream waits for `latency`, each token for `step`.
struct pace {
    std::chrono::nanoseconds latency, step;
};

enum class ollama_api : std::uint8_t { chat, generate };
[[nodiscard]] std::string ollama_object(ollama_api which, const asked& a, const native_facts& f, const choice_text& c);
[[nodiscard]] std::vector<piece> ollama_lines(ollama_api which, const asked& a, const native_facts& f,
                                              const choice_text& c, pace at);
/// `many`: /api/embed, else /api/embeddings.
[[nodiscard]] std::string ollama_vectors(bool many, const asked& a, const native_facts& f);

[[nodiscard]] std::string llamacpp_object(const asked& a, const native_facts& f,
                                          const std::vector<choice_text>& choices);
[[nodiscard]] std::vector<piece> llamacpp_stream(const asked& a, const native_facts& f,
                                                 const std::vector<choice_text>& choices, pace at);
[[nodiscard]] std::string llamacpp_vectors(const asked& a);
[[nodiscard]] std::string rerank_object(const asked& a, const native_facts& f);
[[nodiscard]] std::string tokens_object(const asked& a);
[[nodiscard]] std::string template_object(const asked& a);

[[nodiscard]] std::string sglang_object(const asked& a, const native_facts& f, const std::vector<choice_text>& choices);
[[nodiscard]] std::vector<piece> sglang_stream(const asked& a, const native_facts& f,
                                               const std::vector<choice_text>& choices, pace at);

[[nodiscard]] std::string tgi_object(const asked& a, const native_facts& f, const choice_text& c);
[[nodiscard]] std::vector<piece> tgi_stream(const asked& a, const native_facts& f, const choice_text& c, pace at);

/// The tokens before `end` as one text.
[[nodiscard]] std::string text_of(const choice_text& c, std::size_t end);
/// Numbers of the tokens [from, to), separated by commas.
[[nodiscard]] std::string token_ids(const choice_text& c, std::size_t from, std::size_t to);

}  // namespace idem::upstream::simulate
