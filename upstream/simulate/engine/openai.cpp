#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

// Hosted: nothing to ask but the models. Its answers carry a fingerprint of the configuration behind it.
constinit const player openai{
    .name = "openai",
    .version = "fp_%hash8%",
    .place = mark_place::fingerprint,
    .mark = "%version%",
    .owner = "openai",
};

}  // namespace idem::upstream::simulate::engine
