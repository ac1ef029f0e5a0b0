// POST /tokenize of llama.cpp (`content`), vLLM and SGLang (`prompt` or `messages`) and TGI (`inputs`). The bodies tell
// the engines apart, so one dialect serves them all: everything in a body counts, and an answer is a list of tokens,
// alone or in an object. A pure function of its input; there is one form only; errors are OpenAI's.
#include "upstream/dialect/cache_member.hpp"
#include "upstream/dialect/json_copy.hpp"
#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/native_common.hpp"
#include "upstream/dialect/native_watch.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view ignored[] = {"/cache", "/request_id"};

// Here the order of keys reaches the prompt, where vLLM renders conversations.
constexpr std::string_view order_kept[] = {"/tools/*/function/parameters",
                                           "/messages/*/tool_calls/*/function/arguments", "/chat_template_kwargs"};

constexpr std::string_view prompt_text[] = {"/content", "/prompt", "/inputs", "/messages/*/content",
                                            "/messages/*/content/*/text"};

bool tokens_of(dom::element value, dom::array& out) {
    dom::object top;
    if (value.get_array().get(out) == simdjson::SUCCESS) return true;
    return value.get_object().get(top) == simdjson::SUCCESS &&
           top.at_key("tokens").get_array().get(out) == simdjson::SUCCESS;
}

void judge(dom::element value, const call&, native::findings& found) {
    dom::array tokens;
    found.malformed = !tokens_of(value, tokens);  // no token at all is what an empty text has
    if (found.malformed) return;
    for (const dom::element token : tokens) found.malformed = found.malformed || token.is_null();
}

class tokenize final : public native::endpoint {
public:
    tokenize() noexcept : endpoint("tokenize", {"/tokenize"}) {}
    body_rules rules() const noexcept override { return {ignored, order_kept, prompt_text}; }
    call read(std::string_view body) const override {
        call c;
        c.greedy = true;  // nothing is sampled
        native::read_model(c, native::member_of(body, "model"));
        read_cache_member(c, "cache", native::member_of(body, "cache"));
        return c;
    }
    std::unique_ptr<watcher> watch(form, const call& c) const override { return native::watch_value(c, judge); }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        dom::element value;
        dom::array tokens;
        if (parse_copied(body).get(value) != simdjson::SUCCESS || !tokens_of(value, tokens)) return std::nullopt;
        return simdjson::minify(tokens);
    }
};

}  // namespace

const dialect& tokenize_text() noexcept {
    static const tokenize instance;
    return instance;
}

}  // namespace idem::upstream::dialect
