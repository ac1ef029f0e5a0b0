#include "gateway/eval/conclude.hpp"

#include <algorithm>

#include "gateway/eval/plan.hpp"

namespace idem::gateway::eval {

namespace {

// Prompts of a cell that lack more than one in twenty of the runs that were planned, however well the others did.
std::string starved(const summary& s, std::string_view in, const std::vector<prompt>& prompts) {
    std::string names;
    std::size_t number = 0;
    for (const prompt& p : prompts) {
        std::optional<std::uint64_t> least;  // of the ways in which the cell puts it
        for (const result& r : s.results)
            if (r.cell == in && r.prompt == p.id) least = std::min(least.value_or(r.runs), r.runs);
        const std::uint64_t counted = least.value_or(0);
        if (p.runs == 0 || (counted > 0 && counted * 20 >= std::uint64_t{p.runs} * 19)) continue;
        if (++number <= 3)
            names += (names.empty() ? "\"" : ", \"") + p.id + "\" " + std::to_string(counted) + " of " +
                     std::to_string(p.runs);
    }
    if (number == 0) return {};
    return std::string(in) + ": " + std::to_string(number) + (number == 1 ? " prompt has" : " prompts have") +
           " fewer runs that count than were planned: " + names + (number > 3 ? ", …." : ".");
}

}  // namespace

void conclude(summary& s, const recording& all, bool changed) {
    const auto say = [&](std::string what) { s.reasons.push_back(std::move(what)); };
    std::vector<std::string> lacking;
    bool flips = false;
    // An engine that says that it has one slot need not be seen to work on two calls.
    const bool one_slot =
        std::ranges::any_of(all.about.facts, [](const std::string& f) { return f.starts_with("slots=1 "); });
    for (const cell_result& c : s.cells) {
        if (c.cell == to_string(cell::control)) continue;
        if (c.flips > 0) {
            flips = true;
            say(c.cell + ": " + std::to_string(c.flips) + " of " + std::to_string(c.runs) +
                " runs gave another output than the prompt's reference.");
        }
        if (c.runs == 0) lacking.push_back(c.cell + ": no run could be counted.");
        if (std::string why = starved(s, c.cell, all.about.prompts); !why.empty()) lacking.push_back(std::move(why));
        if (c.errors * 20 > c.runs + c.errors)
            lacking.push_back(c.cell + ": " + std::to_string(c.errors) + " calls got no usable answer, more than 5 %.");
        if (c.runs > 0 && c.flips == 0 && c.bound > s.p_max) {
            lacking.push_back(c.cell + ": the upper bound of a flip's probability is " + std::to_string(c.bound) +
                              ", above " + std::to_string(s.p_max) + ": more runs are needed.");
        }
        const bool crowded = c.cell == to_string(cell::burst) || c.cell == to_string(cell::noise);
        if (crowded && !one_slot && c.peak_running >= 0 && c.crowded_blocks * 2 < c.blocks) {
            lacking.push_back(c.cell + ": by its own count the engine worked on two calls at once in " +
                              std::to_string(c.crowded_blocks) + " of " + std::to_string(c.blocks) + " blocks only.");
        }
        const bool beside =
            c.cell == to_string(cell::history) || c.cell == to_string(cell::noise) || c.cell == to_string(cell::prefix);
        if (beside && c.others_answered <= c.others_failed) {
            lacking.push_back(c.cell + ": of the calls beside the runs " + std::to_string(c.others_answered) +
                              " were answered and " + std::to_string(c.others_failed) + " were not.");
        }
    }
    for (const cell_result& c : s.cells)
        if (c.cell == to_string(cell::restart) && c.runs > 0)
            say("restart: " + std::to_string(c.flipped_lifetimes) + " of " + std::to_string(c.lifetimes) +
                " lifetimes had another output; the runs of one are not independent, and of lifetimes alone the upper "
                "bound is " +
                std::to_string(c.lifetime_bound) + ".");
    for (const server& r : all.about.replicas)
        if (r.environment != all.about.environment)
            say("The replica " + r.id + " has another environment than the target.");
    if (s.drift)
        say("The number of prompt tokens of one prompt changed: a template that reads the clock, or another tokenizer "
            "(prompt drift).");
    if (!s.control_saw)
        lacking.emplace_back(
            "The control saw no difference at temperature 1 with differing seeds, so a flip might not be seen either.");
    if (changed) {
        say("The environment changed while it was measured.");
        s.says = verdict::environment_changed;
    } else if (flips) {
        s.says = verdict::flips;
    } else if (!lacking.empty()) {
        s.says = verdict::not_enough;
    } else {
        s.says = verdict::deterministic;
        say("Every prompt gave one output in every cell.");
    }
    for (std::string& why : lacking) say(std::move(why));
}

std::string_view to_string(verdict v) noexcept {
    switch (v) {
        case verdict::deterministic:
            return "deterministic";
        case verdict::flips:
            return "flips";
        case verdict::not_enough:
            return "not enough evidence";
        case verdict::environment_changed:
            return "environment changed";
        case verdict::other_answers:
            break;
    }
    return "deterministic, other answers than the baseline";
}

}  // namespace idem::gateway::eval
