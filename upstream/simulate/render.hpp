#pragma once
// Puts generated tokens into the JSON and the events of the APIs. Sans-I/O, any thread.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/simulate/asked.hpp"
#include "upstream/simulate/script.hpp"

namespace idem::upstream::simulate {

/// One choice, ready to be written down.
struct choice_text {
    std::vector<std::string> tokens;
    std::string_view finish = "stop";
    std::string stop;            // the stop string that ended it
    bool tool_call = false;      // `tokens` are the arguments of a call to `tool_name`
    std::string_view tool_name;  // as a raw JSON string
    std::uint64_t state = 0;     // for ids and log probabilities
};

/// What both forms of an answer say about themselves.
struct answer_facts {
    std::string id;
    std::int64_t created = 0;
    std::string model;
    std::string fingerprint = {};
    bool fingerprint_last = false;    // of a stream only the last chunk has it
    std::string weight_version = {};  // SGLang's, of objects
};

[[nodiscard]] std::string chat_object(const asked& a, const answer_facts& f, const std::vector<choice_text>& choices);
[[nodiscard]] std::string completion_object(const asked& a, const answer_facts& f,
                                            const std::vector<choice_text>& choices);
/// The events of the stream. The first piece waits for `latency`, each step of one token a choice for `step`.
[[nodiscard]] std::vector<piece> chat_stream(const asked& a, const answer_facts& f,
                                             const std::vector<choice_text>& choices, std::chrono::nanoseconds latency,
                                             std::chrono::nanoseconds step);
[[nodiscard]] std::vector<piece> completion_stream(const asked& a, const answer_facts& f,
                                                   const std::vector<choice_text>& choices,
                                                   std::chrono::nanoseconds latency, std::chrono::nanoseconds step);
[[nodiscard]] std::string embeddings_object(const asked& a);
/// The vector of each input, as a list of decimals.
[[nodiscard]] std::vector<std::string> vector_texts(const asked& a);

[[nodiscard]] std::string response_object(const asked& a, const answer_facts& f, const choice_text& c);
[[nodiscard]] std::vector<piece> response_stream(const asked& a, const answer_facts& f, const choice_text& c,
                                                 std::chrono::nanoseconds latency, std::chrono::nanoseconds step);

[[nodiscard]] std::string message_object(const asked& a, const answer_facts& f, const choice_text& c);
[[nodiscard]] std::vector<piece> message_stream(const asked& a, const answer_facts& f, const choice_text& c,
                                                std::chrono::nanoseconds latency, std::chrono::nanoseconds step);

/// `events` as server-sent events, else as the pieces of one array.
[[nodiscard]] std::vector<piece> gemini_stream(const asked& a, const answer_facts& f,
                                               const std::vector<choice_text>& choices, bool events,
                                               std::chrono::nanoseconds latency, std::chrono::nanoseconds step);
[[nodiscard]] std::string gemini_object(const asked& a, const answer_facts& f, const std::vector<choice_text>& choices);
[[nodiscard]] std::string gemini_count(const asked& a);
[[nodiscard]] std::string gemini_embeddings(const asked& a, bool many);

[[nodiscard]] std::string moderation_object(const asked& a, const answer_facts& f);
[[nodiscard]] std::string images_object(const asked& a, const answer_facts& f);
[[nodiscard]] std::string speech_audio(const asked& a);

}  // namespace idem::upstream::simulate
