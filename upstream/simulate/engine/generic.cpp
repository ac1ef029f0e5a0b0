#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

namespace {

constexpr page pages[] = {{"GET", "/health", R"({"status":"ok"})", page_kind::health}};

}  // namespace

constinit const player generic{
    .name = "generic",
    .version = "simulated-1",
    .place = mark_place::fingerprint,
    .mark = "%version%",
    .pages = pages,
};

}  // namespace idem::upstream::simulate::engine
