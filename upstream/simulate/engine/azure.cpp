#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

// Hosted, as OpenAI's.
constinit const player azure{
    .name = "azure",
    .version = "fp_%hash8%",
    .place = mark_place::fingerprint,
    .mark = "%version%",
    .owner = "azure",
};

}  // namespace idem::upstream::simulate::engine
