#include "upstream/dialect/openai_choices.hpp"

#include "upstream/dialect/openai_watch.hpp"

namespace idem::upstream::dialect::openai {

std::unique_ptr<watcher> choices_endpoint::watch(form f, const call& c) const {
    return watch_choices(f, c, form_.payload);
}

std::optional<std::string> choices_endpoint::assemble(std::string_view stream) const {
    auto whole = form_.fold(stream);
    if (!whole || !whole->lossless) return std::nullopt;
    return std::move(whole->object);
}

std::optional<std::string> choices_endpoint::normalised(form f, std::string_view body) const {
    if (f != form::sse) return form_.normalised(body);
    const auto whole = form_.fold(body);
    return whole ? form_.normalised(whole->object) : std::nullopt;
}

}  // namespace idem::upstream::dialect::openai
