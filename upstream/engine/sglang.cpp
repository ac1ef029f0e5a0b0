#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

constinit const profile sglang{
    .name = "sglang",
    .stream_options = true,
    .models = true,
    .hosted = false,
    .evidence = "sglang/srt/entrypoints/openai/protocol.py: StreamOptions; http_server.py: /v1/models",
};

}  // namespace idem::upstream::engine
