#include "gateway/eval/plan.hpp"

#include <algorithm>
#include <utility>

#include "upstream/base/sequence.hpp"

namespace idem::gateway::eval {

std::string_view to_string(cell c) noexcept {
    switch (c) {
        case cell::solo_cold:
            return "solo-cold";
        case cell::solo_hot:
            return "solo-hot";
        case cell::history:
            return "history";
        case cell::burst:
            return "burst";
        case cell::noise:
            return "noise";
        case cell::prefix:
            return "prefix";
        case cell::replicas:
            return "replicas";
        case cell::restart:
            return "restart";
        case cell::form:
            return "form";
        case cell::gateway:
            return "gateway";
        case cell::control:
            break;
    }
    return "control";
}

std::optional<cell> cell_from(std::string_view word) noexcept {
    for (const cell c : every_cell)
        if (to_string(c) == word) return c;
    return std::nullopt;
}

bool must_agree(cell c) noexcept {
    return c != cell::control;
}

std::vector<block> make_plan(std::span<const cell> cells, std::span<const prompt> prompts, std::uint64_t seed) {
    std::vector<block> plan;
    for (const cell c : cells) {
        for (std::size_t p = 0; p < prompts.size(); ++p) {
            // One prompt is enough to see that samples differ.
            if (c == cell::control && p > 0) continue;
            const unsigned all = c == cell::control ? control_runs : prompts[p].runs;
            const unsigned parts = c == cell::restart ? restarts : 1;
            for (unsigned part = 0; part < parts; ++part) {
                const unsigned end = all * (part + 1) / parts;
                for (unsigned from = all * part / parts; from < end; from += runs_in_block)
                    plan.push_back({0, c, p, from, std::min(runs_in_block, end - from), parts > 1 ? part + 1 : 0});
            }
        }
    }
    // Fisher and Yates.
    sequence random(seed);
    for (std::size_t i = plan.size(); i > 1; --i) std::swap(plan[i - 1], plan[random() % i]);
    for (std::size_t i = 0; i < plan.size(); ++i) plan[i].number = static_cast<unsigned>(i);
    std::ranges::sort(plan, {}, [](const block& b) { return std::pair(b.lifetime, b.number); });
    // Within a cell and prompt the runs keep their order: the first is the first.
    std::vector<std::vector<block>> in_order(cells.size() * prompts.size());
    const auto place = [&](const block& b) {
        const auto at = static_cast<std::size_t>(std::ranges::find(cells, b.what) - cells.begin());
        return at * prompts.size() + b.prompt;
    };
    for (const block& b : plan) in_order[place(b)].push_back(b);
    for (auto& each : in_order) std::ranges::sort(each, std::greater{}, &block::first_run);
    unsigned number = 0;
    for (block& b : plan) {
        auto& rest = in_order[place(b)];
        b = rest.back();
        rest.pop_back();
        b.number = number++;
    }
    return plan;
}

}  // namespace idem::gateway::eval
