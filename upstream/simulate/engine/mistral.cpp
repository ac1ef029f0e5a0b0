#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

// Hosted: its answers say which model they are from, and carry no fingerprint. The version is appended to what was
// asked for.
constinit const player mistral{
    .name = "mistral",
    .version = "",
    .place = mark_place::model,
    .mark = "%model%%version%",
    .owner = "mistralai",
};

}  // namespace idem::upstream::simulate::engine
