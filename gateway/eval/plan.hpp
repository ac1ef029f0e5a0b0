#pragma once
// Which runs an evaluation makes, in which order. Pure; any thread.
//
// Runs are made in blocks of one cell and one prompt, and the blocks in an order that the seed shuffles: what drifts
// with time does not look like a property of a cell.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/eval/record.hpp"

namespace idem::gateway::eval {

enum class cell : std::uint8_t {
    solo_cold,  // one call at a time, each from a known engine state
    solo_hot,   // one at a time, the prompt's prefix kept from the call before
    history,    // other calls, sampled ones among them, before each
    burst,      // several copies at once
    noise,      // beside other calls of ragged lengths
    prefix,     // after a call that shares a beginning with it, which the engine keeps
    replicas,   // each at every server of a kind
    restart,    // in several lifetimes of the server
    form,       // as a stream and as an object, in turn
    gateway,    // straight and through a gateway
    control,    // sampled, each run with another seed: must differ
};
inline constexpr cell every_cell[] = {cell::solo_cold, cell::solo_hot, cell::history,  cell::burst,
                                      cell::noise,     cell::prefix,   cell::replicas, cell::restart,
                                      cell::form,      cell::gateway,  cell::control};
[[nodiscard]] std::string_view to_string(cell c) noexcept;  // solo-cold, …
[[nodiscard]] std::optional<cell> cell_from(std::string_view word) noexcept;
/// The same prompt has to give the same output in all of these.
[[nodiscard]] bool must_agree(cell c) noexcept;

/// How many copies of a burst are in flight at once, in turn.
inline constexpr unsigned burst_sizes[] = {2, 4, 8, 16};

/// How many tokens the call before it shares with a prompt, in turn; all but the last of those that have fewer. Beside
/// the sizes of blocks and chunks, where engines change their ways.
inline constexpr unsigned shared_lengths[] = {1, 511, 2048, 4097};

struct block {
    unsigned number = 0;
    cell what = cell::solo_cold;
    std::size_t prompt = 0;  // index
    unsigned first_run = 0, runs = 0;
    unsigned lifetime = 0;  // how often the server was started anew before
};

inline constexpr unsigned runs_in_block = 25;
/// The control needs few runs: it has to differ at all.
inline constexpr unsigned control_runs = 10;
/// How often the cell restart starts the server anew. The runs of the other cells are all made before, so that what a
/// restart changes shows in its own cell.
inline constexpr unsigned restarts = 3;

[[nodiscard]] std::vector<block> make_plan(std::span<const cell> cells, std::span<const prompt> prompts,
                                           std::uint64_t seed);

}  // namespace idem::gateway::eval
