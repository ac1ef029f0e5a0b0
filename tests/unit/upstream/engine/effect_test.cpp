#include "upstream/engine/effect.hpp"

#include <doctest/doctest.h>

using namespace idem::upstream::engine;

TEST_CASE("what only reads goes on, on every engine") {
    for (const profile* p : all()) {
        CAPTURE(p->name);
        for (const char* path : {"/v1/models", "/version", "/metrics", "/props", "/", "/v1/files/abc"}) {
            CHECK(effect_of(*p, "GET", path) == effect::none);
            CHECK(effect_of(*p, "HEAD", path) == effect::none);
            CHECK(effect_of(*p, "OPTIONS", path) == effect::none);
        }
        for (const char* path : {"/tokenize", "/detokenize", "/apply-template"})
            CHECK(effect_of(*p, "POST", path) == effect::none);
    }
}

TEST_CASE("everything else may change something, however its path is spelt") {
    for (const profile* p : all()) {
        CAPTURE(p->name);
        for (const char* path :
             {"/invocations", "/v1/chat/completions/", "//v1/chat/completions", "/v1/%63hat/completions",
              "/v1/engines/m/completions", "/openai/deployments/d/chat/completions", "/sleep", "/pause",
              "/v1/load_lora_adapter", "/v1/batches", "/", "", "/tokenize/", "/tokenize|/detokenize"}) {
            CAPTURE(path);
            CHECK(effect_of(*p, "POST", path) == effect::changes);
        }
        for (const char* method : {"PUT", "PATCH", "DELETE", "CONNECT", "QUERY", "get", ""})
            CHECK(effect_of(*p, method, "/tokenize") == effect::changes);
    }
}

TEST_CASE("SGLang changes and computes under GET, too") {
    for (const char* path : {"/flush_cache", "//flush_cache/", "/%66lush_cache", "/flush%5fcache", "/slow_down"})
        CHECK(effect_of(sglang, "GET", path) == effect::changes);
    CHECK(effect_of(sglang, "GET", "/health") == effect::computes);
    CHECK(effect_of(sglang, "GET", "/health/") == effect::computes);
    CHECK(effect_of(sglang, "GET", "/health%2") == effect::none);  // no escape
    CHECK(effect_of(vllm, "GET", "/health") == effect::none);
}
