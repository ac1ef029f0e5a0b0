#include "upstream/simulate/engine/player.hpp"

namespace idem::upstream::simulate::engine {

namespace {

// What vLLM answers, from its entrypoints: /version, /load and /metrics always, /server_info and /reset_prefix_cache
// with VLLM_SERVER_DEV_MODE=1. A health check asks the engine loop and generates nothing.
constexpr std::string_view server_info =
    R"({"vllm_config":{"model_config":{"model":"%model%","dtype":"torch.bfloat16","seed":0,"max_model_len":32768,)"
    R"("revision":"%hash8%","quantization":null},"parallel_config":{"tensor_parallel_size":1,)"
    R"("pipeline_parallel_size":1,"data_parallel_size":1},"cache_config":{"enable_prefix_caching":%kept%,)"
    R"("cache_dtype":"auto","block_size":16},"scheduler_config":{"max_num_seqs":256,"max_num_batched_tokens":8192,)"
    R"("async_scheduling":false}},"vllm_env":{"VLLM_BATCH_INVARIANT":true,"VLLM_USE_FLASHINFER_SAMPLER":false,)"
    R"("VLLM_SERVER_DEV_MODE":true},"system_env":{"torch_version":"2.9.1+cu130","cuda_runtime_version":"13.0.88",)"
    R"("nvidia_driver_version":"580.159.0%environment%","nvidia_gpu_models":"GPU 0: NVIDIA H200",)"
    R"("vllm_version":"%version%"}})";

constexpr std::string_view metrics =
    "# TYPE vllm:num_requests_running gauge\n"
    "vllm:num_requests_running{engine=\"0\",model_name=\"%model%\"} %running%\n"
    "# TYPE vllm:num_requests_waiting gauge\n"
    "vllm:num_requests_waiting{engine=\"0\",model_name=\"%model%\"} 0\n";

constexpr page pages[] = {
    {"GET", "/health", "", page_kind::health},
    {"GET", "/ping", "", page_kind::health},
    {"GET", "/version", R"({"version":"%version%"})"},
    {"GET", "/load", R"({"server_load":%running%})"},
    {"GET", "/metrics", metrics, page_kind::facts, "text/plain; version=0.0.4; charset=utf-8"},
    {"GET", "/server_info", server_info},
    {"POST", "/reset_prefix_cache", "", page_kind::reset},
};

}  // namespace

constinit const player vllm{
    .name = "vllm",
    .version = "0.33.0",
    .place = mark_place::last_fingerprint,
    .mark = "vllm-%version%-%hash8%",
    .model_tail = R"(,"root":"%model%","parent":null,"max_model_len":32768)",
    .pages = pages,
};

}  // namespace idem::upstream::simulate::engine
