// Ollama's chat, POST /api/chat. Rules, bypasses and errors: ollama_common; the end of an answer: ollama_watch;
// its two forms and what answers are compared by: ollama_convert.
#include "upstream/dialect/ollama_common.hpp"
#include "upstream/dialect/ollama_convert.hpp"
#include "upstream/dialect/ollama_watch.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

using ollama::api;

constexpr native::conversion by = {[](std::string_view stream) { return ollama::fold(stream, api::chat); },
                                   [](std::string_view object) { return ollama::split(object, api::chat); },
                                   [](std::string_view object) { return ollama::normalised(object, api::chat); }};

class chat final : public native::two_forms<ollama::endpoint> {
public:
    chat() noexcept : two_forms("ollama.chat", "/api/chat", by) {}
    call read(std::string_view body) const override { return ollama::read_request(body, "messages", true); }
    std::unique_ptr<watcher> watch(form f, const call&) const override { return ollama::watch_answer(f, api::chat); }
};

}  // namespace

const dialect& ollama_chat() noexcept {
    static const chat instance;
    return instance;
}

}  // namespace idem::upstream::dialect
