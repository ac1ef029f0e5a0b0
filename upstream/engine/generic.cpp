#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

// Whatever calls itself OpenAI-compatible. Both statements are what such servers usually do, not a promise of anybody:
// where one refuses `stream_options`, the upstream's `usage` setting turns the request for usage off. How its samples
// come about is not known, so it has no deterministic form of anything: name the engine to have one.
namespace {

constexpr fact_source model_facts[] = {{"model", "/data/0/id"}};
constexpr probe endpoints[] = {{.path = "/v1/models", .facts = model_facts}};

}  // namespace

constinit const profile generic{
    .name = "generic",
    .stream_options = true,
    .models = true,
    .probes = {.facts = endpoints, .health = "/v1/models", .unreadable = numeric_facts},
    .evidence = "assumed of any OpenAI-compatible server",
};

}  // namespace idem::upstream::engine
