#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

namespace {

// What LMDeploy's api_server answers. There is no page for its version and no fingerprint: both must be declared.
constexpr page pages[] = {
    {"GET", "/health", R"({"status":"healthy"})", page_kind::health},
    {"GET", "/is_sleeping", R"({"is_sleeping":false})"},
    {"GET", "/metrics", "lmdeploy:num_requests_running{model_name=\"%model%\"} %running%\n", page_kind::facts,
     "text/plain; version=0.0.4; charset=utf-8"},
};

}  // namespace

constinit const player lmdeploy{
    .name = "lmdeploy",
    .version = "0.18.0",
    .model_tail = R"(,"root":"%model%")",
    .pages = pages,
};

}  // namespace idem::upstream::simulate::engine
