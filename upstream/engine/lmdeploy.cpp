#include "upstream/engine/profile.hpp"

namespace idem::upstream::engine {

namespace {

// `seed` becomes the request's random_seed; several choices get it plus their index. There is no way to turn prefix
// caching off for one request, and the sampler of a whole batch depends on all of its requests.
constexpr request_form forms[] = {
    {.dialects = "openai.chat|openai.completions", .seed = "/seed"},
};

}  // namespace

constinit const profile lmdeploy{
    .name = "lmdeploy",
    .stream_options = true,
    .models = true,
    .seeds = true,
    .requests = forms,
    .no_mixing = true,  // the argmax shortcut is taken only where the whole batch has top_k 1
    .evidence =
        "read from source: LMDeploy 0.16, lmdeploy/serve/openai/api_server.py and protocol.py, "
        "lmdeploy/pytorch/engine/logits_process.py",
};

}  // namespace idem::upstream::engine
