#pragma once
// Changes a request body by rules, and nothing else of it: members are taken out, prompt text is normalised, all other
// bytes stay as the client wrote them. What the key is made of and what goes upstream are then one text, so two prompts
// share an answer only if the model would have read the same.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/request/normalise.hpp"
#include "cache/request/rules.hpp"

namespace idem::cache {

/// What to change. Immutable; any thread.
struct rewriting {
    rule_set places;  // what is taken out, also below order-kept places, and where prompt text stands
    text_rules text;  // what is done to prompt text
};

/// Reuses its memory; one a thread.
class rewriter {
public:
    /// `json` is a body that the canonicaliser accepts. nullopt: nothing had to change. The result is valid until the
    /// next call.
    [[nodiscard]] std::optional<std::string_view> rewrite(std::string_view json, const rewriting& by);

private:
    void value(bool prompt, std::size_t from, std::size_t to);
    void object(std::size_t from, std::size_t to);
    void array(std::size_t from, std::size_t to);
    void text(bool prompt);
    [[nodiscard]] std::string_view key();
    void skip_value() noexcept;
    void skip_string() noexcept;
    void skip_space() noexcept;
    void keep_until(const char* place);
    void take_out(const char* from, const char* to);

    const rewriting* by_ = nullptr;
    const char* in_ = nullptr;
    const char* end_ = nullptr;
    const char* done_ = nullptr;  // what lies before it is in out_, or was taken out
    bool changed_ = false;
    std::string out_, scratch_, key_;
    std::vector<rule_set::node_id> alive_;
};

}  // namespace idem::cache
