#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

constinit const profile vllm{
    .name = "vllm",
    .stream_options = true,
    .models = true,
    .hosted = false,
    .evidence = "vllm/entrypoints/openai: StreamOptions in the chat and completion protocols; /v1/models route",
};

}  // namespace idem::upstream::engine
