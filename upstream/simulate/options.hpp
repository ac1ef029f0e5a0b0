#pragma once
// What `idem simulate` can be told. Plain data with the defaults of the command line.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace idem::upstream::simulate {

struct simulate_options {
    std::string address = "127.0.0.1";        // numeric; port 0 lets the system choose
    std::uint16_t port = 8000;                //
    std::string engine = "simulated";         // --engine: one of engine/, else the generic one; and the Server field
    std::string model = "simulated";          // --model: the one in the list of models; calls may name any
    std::string version;                      // --version-string: what the engine shows as its version; empty: its own
    std::chrono::milliseconds latency{0};     // --latency: before the first byte of a model's answer
    unsigned tokens = 32;                     // --tokens: length of a text that nothing else limits
    double tokens_per_second = 0;             // --tokens-per-second: 0 is as fast as possible
    double flip_hazard = 0;                   // --flip-hazard: probability that an answer deviates from some token on
    double token_hazard = 0;                  // --token-hazard: the same for each token
    bool batch_sensitive = false;             // --batch-sensitive: the text depends on the calls beside it
    bool prefix_cache = false;                // --prefix-cache: a prompt's first answer differs from the later ones
    bool global_rng = false;                  // --global-rng: one generator for all sampled requests
    bool dated_template = false;              // --dated-template: chat prompts have the second in them
    std::chrono::milliseconds slow_start{0};  // --slow-start: 503 until then
    std::optional<std::chrono::milliseconds> change_after;  // --change-environment-after
    double error_rate = 0;                   // --error-rate: probability of a 500 instead of a model's answer
    std::optional<std::uint64_t> cut_after;  // --cut-after: close after that many body bytes of a model's answer
    unsigned threads = 1;                    // --threads
};

}  // namespace idem::upstream::simulate
