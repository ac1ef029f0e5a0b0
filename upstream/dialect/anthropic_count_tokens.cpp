// Anthropic's token count, POST /v1/messages/count_tokens: a pure function of the prompt that answers with one small
// object and has no other form. Rules: anthropic_common; tools are counted and not run, so they forbid nothing here.
#include "upstream/dialect/anthropic_common.hpp"
#include "upstream/dialect/anthropic_normal.hpp"
#include "upstream/dialect/anthropic_watch.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

class count_tokens final : public anthropic::endpoint {
public:
    count_tokens() noexcept : endpoint("anthropic.count_tokens", "/v1/messages/count_tokens") {}

    call read(std::string_view body) const override {
        call c = anthropic::read_request(body, false);
        c.wanted = form::json;
        c.greedy = true;  // nothing is sampled
        return c;
    }

    std::unique_ptr<watcher> watch(form, const call&) const override { return anthropic::watch_count(); }
    std::optional<std::string> assemble(std::string_view) const override { return std::nullopt; }
    std::optional<std::string> split(std::string_view, bool) const override { return std::nullopt; }
    std::optional<std::string> normalised(form, std::string_view body) const override {
        return anthropic::normalised_count(body);
    }
};

}  // namespace

const dialect& anthropic_count_tokens() noexcept {
    static const count_tokens instance;
    return instance;
}

}  // namespace idem::upstream::dialect
