#pragma once
// Takes an OpenAI answer in object form apart into the events of the stream form. Sans-I/O, any thread.
#include <optional>
#include <string>
#include <string_view>

namespace idem::upstream::dialect::openai {

/// nullopt where folding the result would not give the object back, or where usage is wanted and the object has none.
[[nodiscard]] std::optional<std::string> split_chat(std::string_view object, bool include_usage);
[[nodiscard]] std::optional<std::string> split_completions(std::string_view object, bool include_usage);

/// Writes the chunks of one stream: what all have in common, and the choice that differs.
class chunk_writer {
public:
    /// `name` is the `object` member of every chunk. False from good() if the object lacks something.
    chunk_writer(std::string_view object, std::string_view expected, std::string_view name, bool include_usage);
    [[nodiscard]] bool good() const noexcept { return good_; }
    [[nodiscard]] std::string_view choices() const noexcept { return choices_; }
    void write(std::string_view choice);
    /// The usage event if it is wanted, [DONE], and the whole stream.
    [[nodiscard]] std::string finish();

private:
    void begin_chunk();
    std::string out_;
    std::string common_;  // members of every chunk
    std::string once_;    // members of the first chunk: large or nested ones
    std::string_view choices_;
    std::string_view usage_;
    bool include_usage_;
    bool good_ = false;
};

}  // namespace idem::upstream::dialect::openai
