#pragma once
// What a simulated model is asked: the members of a request that shape the answer. Sans-I/O, any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace idem::upstream::simulate {

/// From token `from` on a text goes another way.
struct deviation {
    std::size_t from = 0;
    std::uint64_t state = 0;
};

/// Views point into the body.
struct asked {
    std::string model;
    std::uint64_t state = 0;  // what the text follows from: all members that are content, and the seed if sampled
    std::uint64_t vector_state = 0;  // what embeddings follow from, besides their own input: the model
    std::uint64_t prompt_tokens = 0;
    bool stream = false;
    bool include_usage = false;
    bool usage_at_end = false;  // on a stream, in the last event of a choice
    bool sampled = true;        // temperature is not 0
    bool seeded = false;
    unsigned n = 1;
    std::optional<std::uint64_t> limit;  // max_tokens or max_completion_tokens
    std::optional<unsigned> logprobs;    // alternatives to report for each token
    bool token_ids = false;              // the answer tells them
    std::vector<std::string> stop;
    std::vector<std::string_view> inputs;  // prompts or inputs, one each
    std::string_view tool_name;            // of the tool to call, as a raw JSON string; empty for none
    std::string_view tool_schema;          // of its arguments
    std::string_view schema;               // of the JSON to answer with; "{}" where any object will do, empty for text
    bool custom_tool = false;              // the tool takes text instead of JSON
    bool echo = false;
    bool thinks = false;  // thinking was asked for
    bool base64 = false;
    std::uint64_t dimensions = 0;
    bool bad = false;               // no model where one is needed, or nothing is asked
    bool cold = false;              // the request does without the prompts that are kept
    std::uint64_t salt = 0;         // of the prompts that are kept, which one request's salt keeps from others
    std::vector<deviation> strays;  // what else than the request the text follows from
};

/// A request of OpenAI's APIs: `input_member` is "messages", "prompt" or "input". `body` must be a valid JSON object.
[[nodiscard]] asked read_request(std::string_view body, std::string_view input_member);
/// One of OpenAI's responses. `body` must be a valid JSON object.
[[nodiscard]] asked read_responses_request(std::string_view body);
/// One of Anthropic's. `body` must be a valid JSON object.
[[nodiscard]] asked read_messages_request(std::string_view body);
/// One of Gemini's, whose model stands in the path. `body` must be a valid JSON object.
[[nodiscard]] asked read_gemini_request(std::string_view body, std::string_view model);
/// One of an engine's own API. What shapes the sampling stands in the object `nested`, or at the top where that is
/// empty; a model need not be named. `body` must be a valid JSON object.
[[nodiscard]] asked read_native_request(std::string_view body, std::string_view input_member, std::string_view nested);

}  // namespace idem::upstream::simulate
