#include "gateway/cli/table.hpp"

#include <algorithm>

namespace idem::gateway::cli {

std::string as_table(const std::vector<table_row>& rows) {
    if (rows.empty()) return {};
    std::vector<std::size_t> width(rows.front().size());
    for (const table_row& r : rows)
        for (std::size_t i = 0; i < r.size(); ++i) width[i] = std::max(width[i], r[i].size());
    std::string out;
    for (const table_row& r : rows) {
        std::string line;
        for (std::size_t i = 0; i < r.size(); ++i) {
            line += r[i];
            if (i + 1 < r.size()) line.append(width[i] - r[i].size() + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string member_text(const boost::json::value& of, std::string_view name) {
    const boost::json::value* v = of.is_object() ? of.get_object().if_contains(name) : nullptr;
    if (!v || v->is_null()) return {};
    return v->is_string() ? std::string(v->get_string()) : boost::json::serialize(*v);
}

}  // namespace idem::gateway::cli
