#pragma once
// Folds an OpenAI stream into the object form. The machine is the same for chat completions and completions; what a
// choice is made of is theirs. Belongs to one thread, sans-I/O.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/dialect/json_merge.hpp"

namespace idem::upstream::dialect::openai {

struct folded {
    std::string object;
    bool lossless = true;  // every member had a sure place, every choice finished, usage was there
};

/// One choice being put together.
class choice_fold {
public:
    virtual ~choice_fold() = default;
    virtual void take(std::string_view choice) = 0;
    [[nodiscard]] virtual bool finished() const = 0;
    [[nodiscard]] virtual bool lossy() const = 0;
    /// To be called once.
    [[nodiscard]] virtual std::string text() = 0;
};

using choice_maker = std::unique_ptr<choice_fold> (*)();

/// nullopt if the stream is broken, carries an error, lacks [DONE] or has no choice. `object` is the object's name.
[[nodiscard]] std::optional<folded> fold(std::string_view stream, std::string_view object, choice_maker make);

[[nodiscard]] std::optional<folded> fold_chat(std::string_view stream);
[[nodiscard]] std::optional<folded> fold_completions(std::string_view stream);

/// A nested object that comes in pieces, such as `logprobs` or `function`. Its owner keeps a place for it.
class nested_fold {
public:
    using rules = merge_rule (*)(std::string_view key, json_kind kind);
    nested_fold(std::string_view key, rules of) noexcept : key_(key), rules_(of) {}
    void take(json_merge& owner, std::string_view value);
    /// Puts the whole object into its place.
    void settle(json_merge& owner) const;
    [[nodiscard]] bool lossy() const noexcept { return members_.lossy(); }

private:
    std::string_view key_;
    rules rules_;
    json_merge members_;
    bool seen_ = false;
};

/// Lists in `logprobs` continue from chunk to chunk.
[[nodiscard]] merge_rule logprobs_rule(std::string_view key, json_kind kind) noexcept;

}  // namespace idem::upstream::dialect::openai
