#include "gateway/pipeline/present.hpp"

#include <optional>

namespace idem::gateway::pipeline {

using upstream::dialect::form;

presented present(const cache::entry_ptr& e, const upstream::dialect::dialect& api, const wish& w) {
    presented p;
    if (e->form == w.form) {
        const std::string_view body = e->body;
        p.keep = e;
        if (w.usage || !e->usage_event) {
            p.pieces[0] = body;
        } else {
            const auto from = static_cast<std::size_t>(e->usage_event->offset);
            const auto to = from + static_cast<std::size_t>(e->usage_event->size);
            p.pieces[0] = body.substr(0, from);
            p.pieces[1] = body.substr(to);
        }
        return p;
    }
    std::optional<std::string> made = w.form == form::json ? api.assemble(e->body) : api.split(e->body, w.usage);
    if (!made) {
        p.lossy = true;
        return p;
    }
    auto owned = std::make_shared<const std::string>(std::move(*made));
    p.pieces[0] = *owned;
    p.keep = std::move(owned);
    p.content_type = upstream::dialect::content_type(w.form);
    return p;
}

}  // namespace idem::gateway::pipeline
