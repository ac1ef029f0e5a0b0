#pragma once
// A prompt as each cell sends it: held to the engine's strict rules where Idem knows them, from a known engine state or
// from a warm one, sampled or not, as an object or as a stream. One thread.
#include <span>
#include <string>
#include <string_view>

#include "gateway/eval/plan.hpp"
#include "gateway/replicas/golden_form.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::eval {

/// A request that keeps an engine busy before or beside the one that is looked at.
struct neighbour {
    std::string path, body;
    std::size_t stop_after = 0;  // bytes of the answer after which it hangs up; 0: never
};

/// A prompt, and a call that leaves a part of it in the engine's cache.
struct shared_beginning {
    std::string before, then;
};

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
    /// After a call that begins with the same `tokens` (words, where the prompt is a text) and goes on otherwise; less
    /// one of its own where it has no more. Of nothing else there is anything in the cache.
    [[nodiscard]] shared_beginning sharing(const prompt& p, std::size_t tokens);
    /// Whether that can be had.
    [[nodiscard]] bool shares(const prompt& p) const;
    /// Whether a seed makes samples repeat on this engine, as far as is known.
    [[nodiscard]] bool repeats_samples(const prompt& p) const;
    [[nodiscard]] bool streams(const prompt& p) const;
    [[nodiscard]] static std::string as_stream(std::string_view body);
    /// What the `number`th call beside that prompt asks, in an API that the server is known to have.
    [[nodiscard]] neighbour other(std::span<const prompt> prompts, const prompt& beside, std::uint64_t number);

private:
    [[nodiscard]] const upstream::engine::request_form* form_of(const prompt& p) const;
    [[nodiscard]] neighbour chat(std::uint64_t number) const;
    const upstream::engine::profile& engine_;
    const std::string model_;
    replicas::golden_form strict_;
};

}  // namespace idem::gateway::eval
