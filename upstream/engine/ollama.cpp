#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

constinit const profile ollama{
    .name = "ollama",
    .stream_options = true,
    .models = true,
    .hosted = false,
    .evidence = "Ollama documentation, \"OpenAI compatibility\": supported request fields and endpoints",
};

}  // namespace idem::upstream::engine
