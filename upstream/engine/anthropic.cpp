#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

// No parameter is a seed, and "even with temperature of 0.0, the results will not be fully deterministic".
constinit const profile anthropic{
    .name = "anthropic",
    .models = true,
    .hosted = true,
    .evidence = "Anthropic API reference: messages, temperature; models, list",
};

}  // namespace idem::upstream::engine
