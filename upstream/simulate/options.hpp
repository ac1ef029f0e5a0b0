#pragma once
// What `idem simulate` can be told. Plain data with the defaults of the command line.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace idem::upstream::simulate {

struct simulate_options {
    std::string address = "127.0.0.1";       // numeric; port 0 lets the system choose
    std::uint16_t port = 8000;               //
    std::string engine = "simulated";        // --engine: `owned_by` in the list of models, and the Server field
    std::string model = "simulated";         // --model: the one in the list of models; calls may name any
    std::string version = "simulated-1";     // --version-string: system_fingerprint
    std::chrono::milliseconds latency{0};    // --latency: before the first byte of a model's answer
    unsigned tokens = 32;                    // --tokens: length of a text that nothing else limits
    double tokens_per_second = 0;            // --tokens-per-second: 0 is as fast as possible
    double flip_hazard = 0;                  // --flip-hazard: probability that an answer deviates from some token on
    double error_rate = 0;                   // --error-rate: probability of a 500 instead of a model's answer
    std::optional<std::uint64_t> cut_after;  // --cut-after: close after that many body bytes of a model's answer
    unsigned threads = 1;                    // --threads
};

}  // namespace idem::upstream::simulate
