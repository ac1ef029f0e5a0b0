#pragma once
// The simulated engine without its sockets: a request goes in, the answer comes out as pieces with a wait before each.
// The text of an answer depends on the request alone (its prompt and parameters, however they are serialised), and
// above temperature 0 on the seed; without one, on chance. Speaks OpenAI chat completions, completions,
// embeddings, responses, moderations, images, speech, models and file upload, Mistral's FIM completions, Anthropic
// messages and token counts, Gemini, the engines' own APIs, and the pages of the engine that it plays. A model called
// `error-NNN` answers with that status. Any thread.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/simulate/options.hpp"

namespace idem::upstream::simulate {

class engine_memory;

/// Everything that may differ between two answers to one request.
struct chance {
    double error = 1;                 // in [0,1): below error_rate the answer is a 500
    double flip = 1;                  // in [0,1): below flip_hazard the answer deviates
    std::uint64_t seed = 0;           // for sampling without a seed, and for where a deviation starts
    std::uint64_t id = 0;             // for the answer's id
    std::int64_t now = 0;             // seconds since 1970
    bool starting = false;            // --slow-start is not over
    unsigned environment = 0;         // how often it changed
    std::uint64_t running = 0;        // other model calls that are being answered
    std::uint64_t process = 0;        // random, of this process
    engine_memory* memory = nullptr;  // what earlier requests left behind, if anything
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
    std::string model;        // that was asked for, where the answer says whose it is
    std::vector<piece> pieces;
};

/// Whether a request is a model's work: these count as calls. An engine may have health checks that are, beside these.
[[nodiscard]] bool is_model_call(std::string_view method, std::string_view path) noexcept;
/// What an answer to a call of `model` says about the environment, with its quotes; empty if it says nothing.
[[nodiscard]] std::string mark_of(const simulate_options& options, std::string_view model, unsigned environment);
/// `target` is the path with its query. `body` is whole.
[[nodiscard]] answer plan(const simulate_options& options, std::string_view method, std::string_view target,
                          std::string_view body, const chance& luck);
/// The object that POST /v1/files answers with. `head` is the beginning of the multipart body, `size` its length.
[[nodiscard]] answer plan_upload(std::string_view head, std::uint64_t size, const chance& luck);

}  // namespace idem::upstream::simulate
