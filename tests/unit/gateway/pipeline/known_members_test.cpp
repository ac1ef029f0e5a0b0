// Members of strict calls that an engine's profile does not know: they pass, and nothing is guaranteed.
#include <doctest/doctest.h>

#include <string>

#include "gateway/pipeline/changes.hpp"

using namespace idem;
using namespace idem::gateway;

namespace {

struct row {
    const char *engine, *path, *members;
    bool weakened;
};

bool weakens(const row& r, const char* base = "strict") {
    config::policy policy;
    policy.name = policy.base = base;
    const pipeline::body_changes changes(policy, upstream::engine::find(r.engine));
    const auto* api = upstream::dialect::find("POST", r.path);
    REQUIRE(api != nullptr);
    pipeline::body_tools tools;
    const auto made = changes.apply(tools, *api, r.members);
    CHECK_FALSE(made.refused);
    return made.weakened;
}

}  // namespace

TEST_CASE("a member that nobody knows takes the guarantee, and no other does") {
    const row rows[] = {
        {"vllm", "/v1/chat/completions", R"({"model":"m","messages":[{}],"max_tokens":4,"stream":true,"user":"u"})",
         false},
        {"vllm", "/v1/chat/completions", R"({"model":"m","messages":[{}],"tools":[],"response_format":{}})", false},
        {"vllm", "/v1/chat/completions", R"({"messages":[{}],"temperature":0.0,"seed":3,"top_p":1})", false},
        {"vllm", "/v1/chat/completions", R"({"messages":[{}],"logits_processors":["x.y"]})", true},
        {"vllm", "/v1/chat/completions", R"({"messages":[{}],"logits\u005fprocessors":["x.y"]})", true},
        {"vllm", "/v1/chat/completions", R"({"messages":[{}],"max\u005ftokens":4})", false},
        {"vllm", "/v1/chat/completions", R"({"messages":[{}],"lora_adapters":null})", false},
        {"vllm", "/v1/completions", R"({"prompt":"p","max_tokens":4,"suffix":"s"})", false},
        {"vllm", "/v1/completions", R"({"prompt":"p","":1})", true},
        {"sglang", "/v1/chat/completions", R"({"messages":[{}],"regex":"a","separate_reasoning":true,"rid":"x"})",
         false},
        {"sglang", "/v1/chat/completions", R"({"messages":[{}],"custom_params":{}})", true},
        {"sglang", "/generate", R"({"text":"t","sampling_params":{"max_new_tokens":4,"stop":"x"},"stream":true})",
         false},
        {"sglang", "/generate", R"({"text":"t","sampling_params":{"custom_params":{}}})", true},
        {"sglang", "/generate", R"({"text":"t","max_new_tokens":4})", true},
        {"llamacpp", "/completion", R"({"prompt":"p","n_predict":4,"cache_prompt":false,"grammar":"g"})", false},
        {"llamacpp", "/completion", R"({"prompt":"p","speculative.n_max":4})", true},
        {"llamacpp", "/infill", R"({"input_prefix":"a","input_suffix":"b","prompt":"p","input_extra":[]})", false},
    };
    for (const row& r : rows) {
        CAPTURE(r.engine);
        CAPTURE(r.members);
        CHECK(weakens(r) == r.weakened);
        CHECK_FALSE(weakens(r, "seeded"));  // which promises nothing
    }
}

TEST_CASE("what an engine's rules name is not said twice") {
    for (const upstream::engine::profile* p : upstream::engine::all()) {
        for (const auto& form : p->requests) {
            for (const std::string_view name : form.known) {
                CAPTURE(p->name);
                CAPTURE(name);
                for (const auto& rule : form.rules) CHECK(rule.at != name);
            }
            CHECK(form.known.empty() != form.strict);
        }
    }
}
