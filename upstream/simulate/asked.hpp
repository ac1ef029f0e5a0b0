#pragma once
// What a simulated model is asked: the members of an OpenAI request that shape the answer. Sans-I/O, any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace idem::upstream::simulate {

/// Views point into the body.
struct asked {
    std::string model;
    std::uint64_t state = 0;  // what the text follows from: all members that are content, and the seed if sampled
    std::uint64_t vector_state = 0;  // what embeddings follow from, besides their own input: the model
    std::uint64_t prompt_tokens = 0;
    bool stream = false;
    bool include_usage = false;
    bool sampled = true;  // temperature is not 0
    bool seeded = false;
    unsigned n = 1;
    std::optional<std::uint64_t> limit;  // max_tokens or max_completion_tokens
    std::optional<unsigned> logprobs;    // alternatives to report for each token
    std::vector<std::string> stop;
    std::vector<std::string_view> inputs;  // prompts or inputs, one each
    std::string_view tool;                 // the tool object to call, empty for none
    std::string_view schema;               // of the JSON to answer with; "{}" where any object will do, empty for text
    bool echo = false;
    bool base64 = false;
    std::uint64_t dimensions = 0;
    bool bad = false;  // no model, or a list that is empty
};

/// `input_member` is "messages", "prompt" or "input". `body` must be a valid JSON object.
[[nodiscard]] asked read_request(std::string_view body, std::string_view input_member);

}  // namespace idem::upstream::simulate
