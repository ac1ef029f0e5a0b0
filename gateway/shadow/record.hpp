#pragma once
// The book of one upstream's shadow runs as JSON: in the store's records, and for people. A record that does not parse
// is absent. Pure; any thread.
#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/determinism/shadow_book.hpp"

namespace idem::gateway::shadow {

namespace determinism = upstream::determinism;

[[nodiscard]] std::string record_name(std::string_view upstream);
/// Within cache::longest_record: divergences that do not fit are left out, the oldest first.
[[nodiscard]] std::string encode(const determinism::shadow_book& b);
[[nodiscard]] std::optional<determinism::shadow_book> decode(std::string_view text);

/// One divergence, as the admin API shows it.
[[nodiscard]] boost::json::object shown(const determinism::shadow_divergence& d);
/// Counts and scores of an upstream.
[[nodiscard]] boost::json::object summary(const determinism::shadow_book& b);

}  // namespace idem::gateway::shadow
