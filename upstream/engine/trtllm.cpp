#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

// Without a seed everybody's request has the same fixed one; with one, the in-flight batcher has been reported to
// ignore it (tensorrtllm_backend issue 468). Block reuse is the server's setting, and no request turns it off.
constinit const profile trtllm{
    .name = "trtllm",
    .stream_options = true,
    .models = true,
    .evidence =
        "read from source: TensorRT-LLM 1.2, tensorrt_llm/sampling_params.py, tensorrt_llm/serve/openai_server.py",
};

}  // namespace idem::upstream::engine
