// Ollama's completion, POST /api/generate. Rules, bypasses and errors: ollama_common; the end of an answer:
// ollama_watch; its two forms and what answers are compared by: ollama_convert.
#include "upstream/dialect/ollama_common.hpp"
#include "upstream/dialect/ollama_convert.hpp"
#include "upstream/dialect/ollama_watch.hpp"
#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

using ollama::api;

constexpr native::conversion by = {[](std::string_view stream) { return ollama::fold(stream, api::generate); },
                                   [](std::string_view object) { return ollama::split(object, api::generate); },
                                   [](std::string_view object) { return ollama::normalised(object, api::generate); }};

class generate final : public native::two_forms<ollama::endpoint> {
public:
    generate() noexcept : two_forms("ollama.generate", "/api/generate", by) {}
    call read(std::string_view body) const override { return ollama::read_request(body, "prompt", true); }
    std::unique_ptr<watcher> watch(form f, const call&) const override {
        return ollama::watch_answer(f, api::generate);
    }
};

}  // namespace

const dialect& ollama_generate() noexcept {
    static const generate instance;
    return instance;
}

}  // namespace idem::upstream::dialect
