#include "cache/ledger/drift.hpp"

#include <algorithm>

namespace idem::cache {

void drift_counter::take(std::span<const ledger_record> of_one_request) {
    const ledger_record *before = nullptr, *after = nullptr;
    for (const ledger_record& r : of_one_request) {
        const ledger_record** of = r.epoch == before_ ? &before : r.epoch == after_ ? &after : nullptr;
        if (of && (!*of || r.first < (*of)->first)) *of = &r;
    }
    if (!before || !after) {
        report_.only_before += before != nullptr;
        report_.only_after += after != nullptr;
        return;
    }
    ++report_.both;
    using upstream::determinism::contrast;
    const contrast c = contrast_of(before->seen(), after->seen());
    report_.changed += c != contrast::same;
    report_.divergences += c == contrast::divergence;
    report_.drifts += c == contrast::drift;
    report_.variations += c == contrast::variation;
}

void drift_counter::take_all(std::span<const ledger_record> records) {
    while (!records.empty()) {
        const digest& request = records.front().request;
        const auto end = std::ranges::find_if(records, [&](const ledger_record& r) { return r.request != request; });
        const auto n = static_cast<std::size_t>(end - records.begin());
        take(records.first(n));
        records = records.subspan(n);
    }
}

}  // namespace idem::cache
