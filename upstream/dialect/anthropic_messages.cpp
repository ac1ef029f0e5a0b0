// Anthropic messages, as Anthropic, vLLM, SGLang, llama.cpp and others speak it: POST /v1/messages, in both versions of
// the API. A stream ends with message_stop; errors are `event: error`. Rules and bypasses: anthropic_common.
#include "upstream/dialect/anthropic_common.hpp"
#include "upstream/dialect/anthropic_fold.hpp"
#include "upstream/dialect/anthropic_normal.hpp"
#include "upstream/dialect/anthropic_split.hpp"
#include "upstream/dialect/anthropic_watch.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

class messages final : public anthropic::endpoint {
public:
    messages() noexcept : endpoint("anthropic.messages", "/v1/messages") {}

    call read(std::string_view body) const override { return anthropic::read_request(body, true); }
    std::unique_ptr<watcher> watch(form f, const call&) const override { return anthropic::watch_message(f); }
    std::optional<std::string> assemble(std::string_view stream) const override {
        auto whole = anthropic::fold_message(stream);
        if (!whole || !whole->lossless) return std::nullopt;
        return std::move(whole->object);
    }
    std::optional<std::string> split(std::string_view object, bool) const override {
        return anthropic::split_message(object);
    }
    std::optional<std::string> normalised(form f, std::string_view body) const override {
        if (f != form::sse) return anthropic::normalised_message(body);
        const auto whole = anthropic::fold_message(body);
        return whole ? anthropic::normalised_message(whole->object) : std::nullopt;
    }
};

}  // namespace

const dialect& anthropic_messages() noexcept {
    static const messages instance;
    return instance;
}

}  // namespace idem::upstream::dialect
