#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

constinit const profile openai{
    .name = "openai",
    .stream_options = true,
    .models = true,
    .hosted = true,
    .evidence = "OpenAI API reference: chat and completions, stream_options.include_usage; models, list",
};

}  // namespace idem::upstream::engine
