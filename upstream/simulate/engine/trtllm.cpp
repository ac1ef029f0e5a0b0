#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

namespace {

// What trtllm-serve answers; the list of models has their names only, and no answer carries a fingerprint.
constexpr std::string_view server_info =
    R"({"disaggregated_params":null,"max_batch_size":1,"max_seq_len":4096,"tensor_parallel_size":1})";

constexpr page pages[] = {
    {"GET", "/health", "", page_kind::health},
    {"GET", "/health_generate", "", page_kind::generating},
    {"GET", "/version", R"({"version":"%version%"})"},
    {"GET", "/server_info", server_info},
    {"GET", "/metrics", "[]"},
};

}  // namespace

constinit const player trtllm{
    .name = "trtllm",
    .version = "1.2.0",
    .pages = pages,
};

}  // namespace idem::upstream::simulate::engine
