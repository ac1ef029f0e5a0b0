#pragma once
// What sets Mistral's API apart on OpenAI's paths. Sans-I/O, any thread.
#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::mistral {

/// Whether a chat request or answer is one of Mistral's own service, by a field that no other API has or by the name of
/// one of its models. That service answers 422 to `stream_options.include_usage`, and sends usage on every stream.
[[nodiscard]] bool is_theirs(std::string_view body);

/// openai::split_chat as Mistral's servers do it: usage comes with the last choice whether or not it was asked for, and
/// `usage: null`, which its SDK does not read, never.
[[nodiscard]] std::optional<std::string> split_chat(std::string_view object, bool include_usage);

}  // namespace idem::upstream::dialect::mistral
