#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

// Hosted: its answers say which model they are from, and no more. The version is appended to what was asked for.
constinit const player anthropic{
    .name = "anthropic",
    .version = "",
    .place = mark_place::model,
    .mark = "%model%%version%",
    .owner = "anthropic",
};

}  // namespace idem::upstream::simulate::engine
