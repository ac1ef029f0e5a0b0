#pragma once
// Columns for people. Pure; any thread.
#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace idem::gateway::cli {

using table_row = std::vector<std::string>;
/// A line a row; all rows as long as the first. Columns are two spaces apart.
[[nodiscard]] std::string as_table(const std::vector<table_row>& rows);
/// A member as text; empty where it is not there, null, or the whole is no object: the gateway may be a newer one.
[[nodiscard]] std::string member_text(const boost::json::value& of, std::string_view name);

}  // namespace idem::gateway::cli
