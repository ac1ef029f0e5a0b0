#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

constinit const profile llamacpp{
    .name = "llamacpp",
    .stream_options = true,
    .models = true,
    .hosted = false,
    .evidence =
        "llama.cpp, tools/server: stream_options.include_usage is read with the other task parameters; /v1/models "
        "route",
};

}  // namespace idem::upstream::engine
