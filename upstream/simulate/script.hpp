#pragma once
// The simulated engine without its sockets: a request goes in, the answer comes out as pieces with a wait before each.
// The text of an answer depends on the request alone (its prompt and parameters, however they are serialised), and
// above temperature 0 on the seed; without one, on chance. Speaks OpenAI chat completions, completions,
// embeddings, responses, moderations, images, speech, models and file upload, Mistral's FIM completions, Anthropic
// messages and token counts, and Gemini. A model called `error-NNN` answers with that status. Any thread.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/simulate/options.hpp"

namespace idem::upstream::simulate {

/// Everything that may differ between two answers to one request.
struct chance {
    double error = 1;        // in [0,1): below error_rate the answer is a 500
    double flip = 1;         // in [0,1): below flip_hazard the answer deviates
    std::uint64_t seed = 0;  // for sampling without a seed, and for where a deviation starts
    std::uint64_t id = 0;    // for the answer's id
    std::int64_t now = 0;    // seconds since 1970
};

struct piece {
    std::chrono::nanoseconds wait{0};
    std::string bytes;
};

struct answer {
    unsigned status = 200;
    std::string_view content_type = "application/json";
    bool stream = false;      // chunked, one chunk a piece; else the pieces are one body
    bool model_call = false;  // counted, delayed and cut like a model's answer
    std::vector<piece> pieces;
};

/// Whether a request is a model's work: these count as calls.
[[nodiscard]] bool is_model_call(std::string_view method, std::string_view path) noexcept;
/// `target` is the path with its query. `body` is whole.
[[nodiscard]] answer plan(const simulate_options& options, std::string_view method, std::string_view target,
                          std::string_view body, const chance& luck);
/// The object that POST /v1/files answers with. `head` is the beginning of the multipart body, `size` its length.
[[nodiscard]] answer plan_upload(std::string_view head, std::uint64_t size, const chance& luck);

}  // namespace idem::upstream::simulate
