#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

// Without a seed everybody's request has the same fixed one; with one, the in-flight batcher has been reported to
// ignore it (tensorrtllm_backend issue 468). Block reuse is the server's setting, and no request turns it off.
namespace {

// /metrics is consumed by reading it, so it is left to others. The engine file is compiled for one GPU: declare its
// hash.
constexpr fact_source version_facts[] = {{"engine_version", "/version"}};
constexpr fact_source model_facts[] = {{"model", "/data/0/id"}};
constexpr probe endpoints[] = {{.path = "/version", .facts = version_facts},
                               {.path = "/v1/models", .facts = model_facts}};
constexpr std::string_view unreadable[] = {
    "weights_sha256", "tokenizer_sha256", "chat_template_sha256", "dtype", "quantization", "tensor_parallel", "gpu",
    "driver"};

}  // namespace

constinit const profile trtllm{
    .name = "trtllm",
    .stream_options = true,
    .models = true,
    .probes = {.facts = endpoints, .health = "/health", .unreadable = unreadable},
    .evidence =
        "read from source: TensorRT-LLM 1.2, tensorrt_llm/sampling_params.py, tensorrt_llm/serve/openai_server.py",
};

}  // namespace idem::upstream::engine
