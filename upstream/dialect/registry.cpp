#include "upstream/dialect/registry.hpp"

namespace idem::upstream::dialect {
namespace {

using getter = const dialect& (*)() noexcept;
constexpr getter all[] = {openai_chat, openai_completions, openai_embeddings};

}  // namespace

const dialect* find(std::string_view method, std::string_view path) noexcept {
    for (const getter get : all) {
        const dialect& d = get();
        if (d.matches(method, path)) return &d;
    }
    return nullptr;
}

const dialect* by_name(std::string_view name) noexcept {
    for (const getter get : all) {
        const dialect& d = get();
        if (d.name() == name) return &d;
    }
    return nullptr;
}

std::string_view content_type(form f) noexcept {
    switch (f) {
        case form::json:
            return "application/json";
        case form::sse:
            return "text/event-stream";
        case form::ndjson:
            return "application/x-ndjson";
    }
    return "application/octet-stream";
}

}  // namespace idem::upstream::dialect
