#pragma once
// What the view gives, as answers. Pure; no secret has a way in.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/admin/response.hpp"
#include "gateway/admin/view.hpp"

namespace idem::gateway::admin {

/// 200 if all are good, else 503. Every check is listed if asked for, or if one fails.
[[nodiscard]] response render_ready(const std::vector<check>& checks, bool verbose);
[[nodiscard]] response render_metrics(std::string text, bool open_metrics);
[[nodiscard]] response render_list(const entry_list& l, cache::unix_ms now);
[[nodiscard]] response render_found(const found& f, bool with_body, cache::unix_ms now);
[[nodiscard]] response render_erased(const erased& e);
[[nodiscard]] response render_order(const order_result& o);
[[nodiscard]] response render_drift(const drift_found& f, const id128& before, const id128& after);

}  // namespace idem::gateway::admin
