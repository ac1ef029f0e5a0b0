#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

namespace {

constexpr std::string_view info =
    R"({"model_id":"%model%","model_sha":"%hash64%","model_pipeline_tag":"text-generation","max_concurrent_requests":1,)"
    R"("max_best_of":1,"max_stop_sequences":4,"max_input_tokens":4095,"max_total_tokens":4096,"validation_workers":2,)"
    R"("max_client_batch_size":1,"router":"text-generation-router","version":"%version%","sha":"%hash64%",)"
    R"("docker_label":null})";

constexpr page pages[] = {
    {"GET", "/health", "", page_kind::health},
    {"GET", "/ping", "", page_kind::health},
    {"GET", "/info", info},
};

}  // namespace

constinit const player tgi{
    .name = "tgi",
    .version = "3.3.7",
    .place = mark_place::fingerprint,
    .mark = "%version%-native",
    .pages = pages,
    .starting = R"({"error":"unhealthy","error_type":"healthcheck"})",
};

}  // namespace idem::upstream::simulate::engine
