#pragma once
// What the watchers of llama.cpp's and SGLang's own APIs share: an answer is one result or a list of them, each of
// which says its index, or stands at one, and is finished once. Belongs to one watcher.
#include <cstddef>
#include <optional>
#include <vector>

#include "upstream/dialect/json_parse.hpp"
#include "upstream/dialect/native_watch.hpp"

namespace idem::upstream::dialect::native {

class result_list {
public:
    explicit result_list(unsigned expected) noexcept : expected_(expected) {}

    /// Where this result belongs. The answer is malformed if that is nowhere, or finished already.
    [[nodiscard]] std::optional<std::size_t> place(simdjson::dom::object result, std::size_t position, findings& found);
    void finish(std::size_t index) { finished_[index] = true; }
    /// Finds out whether there are results and whether all are finished.
    void settle(findings& found) const;

private:
    unsigned expected_;
    std::vector<bool> finished_;
};

/// Calls `take(result, position)` for the one result or for each of the list.
template <class Take>
void each_result(simdjson::dom::element value, findings& found, Take take) {
    simdjson::dom::object one;
    simdjson::dom::array list;
    if (value.get_object().get(one) == simdjson::SUCCESS) {
        take(one, std::size_t{0});
    } else if (value.get_array().get(list) == simdjson::SUCCESS) {
        std::size_t position = 0;
        for (const simdjson::dom::element item : list) {
            if (item.get_object().get(one) != simdjson::SUCCESS) {
                found.malformed = true;
                return;
            }
            take(one, position++);
        }
    } else {
        found.malformed = true;
    }
}

/// The object that an event holds; none, and the findings say why, if it holds none or an error.
[[nodiscard]] std::optional<simdjson::dom::object> result_of(const sse_event& event, findings& found);

}  // namespace idem::upstream::dialect::native
