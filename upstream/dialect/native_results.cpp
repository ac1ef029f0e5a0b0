#include "upstream/dialect/native_results.hpp"

#include <algorithm>

namespace idem::upstream::dialect::native {
namespace {

constexpr std::size_t max_results = 65536;

}  // namespace

std::optional<std::size_t> result_list::place(simdjson::dom::object result, std::size_t position, findings& found) {
    simdjson::dom::element value;
    std::uint64_t index = position;
    const bool told = present(result, "index", value);
    if ((told && value.get_uint64().get(index) != simdjson::SUCCESS) || index >= max_results) {
        found.malformed = true;
        return std::nullopt;
    }
    if (index >= finished_.size()) finished_.resize(index + 1, false);
    if (finished_[index]) found.malformed = true;
    return index;
}

void result_list::settle(findings& found) const {
    found.empty = finished_.empty();
    found.unfinished = finished_.size() < expected_ || !std::ranges::all_of(finished_, [](bool done) { return done; });
}

std::optional<simdjson::dom::object> result_of(const sse_event& event, findings& found) {
    simdjson::dom::object result;
    if (parse_unambiguous(event.data).get_object().get(result) != simdjson::SUCCESS) {
        found.malformed = true;
        return std::nullopt;
    }
    if (reports_error(result)) {
        found.error = true;
        return std::nullopt;
    }
    return result;
}

}  // namespace idem::upstream::dialect::native
