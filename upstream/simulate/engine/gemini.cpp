#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

// Hosted: `modelVersion`, and no more. The version is appended to what was asked for.
constinit const player gemini{
    .name = "gemini",
    .version = "",
    .place = mark_place::model,
    .mark = "%model%%version%",
    .owner = "google",
};

}  // namespace idem::upstream::simulate::engine
