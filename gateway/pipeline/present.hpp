#pragma once
// How an entry is shown to one caller: in the form it asked for, with the usage event only if it asked for that. Pure.
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "cache/entry/entry.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::gateway::pipeline {

/// What one caller wants to see.
struct wish {
    upstream::dialect::form form = upstream::dialect::form::json;
    bool usage = false;
};

struct presented {
    bool lossy = false;                        // the form cannot be made without loss: nothing below is set
    std::array<std::string_view, 3> pieces{};  // views into `keep`
    std::shared_ptr<const void> keep;
    std::string_view content_type;  // set where the answer was converted
    [[nodiscard]] std::size_t size() const noexcept { return pieces[0].size() + pieces[1].size() + pieces[2].size(); }
};
[[nodiscard]] presented present(const cache::entry_ptr& e, const upstream::dialect::dialect& api, const wish& w);

}  // namespace idem::gateway::pipeline
