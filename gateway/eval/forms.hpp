#pragma once
// A prompt as each cell sends it: held to the engine's strict rules where Idem knows them, from a known engine state or
// from a warm one, sampled or not, as an object or as a stream. One thread.
#include <optional>
#include <string>
#include <string_view>

#include "gateway/config/config.hpp"
#include "gateway/eval/plan.hpp"
#include "gateway/pipeline/treatment.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::eval {

class forms {
public:
    forms(const upstream::engine::profile& engine, std::string model);
    forms(const forms&) = delete;
    forms& operator=(const forms&) = delete;

    /// Greedy. `warm`: the engine may go on from what it kept of the call before.
    [[nodiscard]] std::string greedy(const prompt& p, bool warm);
    /// The same, free to be worked on wherever the engine has room: strict pins it to one slot.
    [[nodiscard]] std::string anywhere(const prompt& p);
    /// Sampled with that seed, where the API has one.
    [[nodiscard]] std::string sampled(const prompt& p, std::string_view temperature, std::uint64_t seed);
    /// Whether a call can be made to start from a known state.
    [[nodiscard]] bool starts_cold(const prompt& p) const;
    /// Whether a seed makes samples repeat on this engine, as far as is known.
    [[nodiscard]] bool repeats_samples(const prompt& p) const;
    [[nodiscard]] bool streams(const prompt& p) const;
    [[nodiscard]] static std::string as_stream(std::string_view body);

private:
    [[nodiscard]] const upstream::engine::request_form* form_of(const prompt& p) const;
    const upstream::engine::profile& engine_;
    const std::string model_;
    const config::policy policy_;
    const pipeline::treatment rules_;
    pipeline::body_tools tools_;
};

/// Requests that keep an engine busy beside the one that is looked at: what the `number`th neighbour asks.
struct neighbour {
    std::string path, body;
    std::size_t stop_after = 0;  // bytes of the answer after which it hangs up; 0: never
};
[[nodiscard]] neighbour neighbour_of(std::string_view model, std::uint64_t number);

}  // namespace idem::gateway::eval
