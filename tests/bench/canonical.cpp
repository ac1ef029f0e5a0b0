// Speed of the canonical form and of the request digest on one core: a chat body of 1,000 messages and one of 600
// bytes.
#include <benchmark/benchmark.h>

#include <string>

#include "cache/request/canonical.hpp"
#include "cache/request/key.hpp"

using namespace idem;

namespace {

constexpr std::string_view ignored[] = {"/stream",
                                        "/stream_options",
                                        "/user",
                                        "/metadata",
                                        "/prompt_cache_key",
                                        "/safety_identifier",
                                        "/messages/*/content/*/prompt_cache_breakpoint"};
constexpr std::string_view kept[] = {"/tools/*/function/parameters", "/response_format/json_schema/schema"};
constexpr upstream::dialect::body_rules rules{ignored, kept};

std::string chat(std::size_t messages, std::size_t length) {
    std::string text;
    while (text.size() < length) text += "The committee met on a Tuesday and, as \\\"agreed\\\", wrote:\\n";
    std::string body = R"({"model": "qwen-7b", "messages": [)";
    for (std::size_t i = 0; i < messages; ++i) {
        body += i ? ", " : "";
        body += R"({"role": "user", "content": ")" + std::to_string(i) + " " + text + "\"}";
    }
    return body + R"(], "temperature": 0.0, "max_tokens": 128, "seed": 7, "stream": true})";
}

void canonical_and_digest(benchmark::State& state) {
    const std::string body = chat(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
    const cache::rule_set prepared(rules);
    cache::canonicalizer c;
    for (auto _ : state) {
        cache::request_parts parts;
        parts.body = c.canonicalize(body, prepared).text;
        benchmark::DoNotOptimize(cache::request_digest(parts));
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(canonical_and_digest)->Args({1000, 1000})->Args({1, 450});

void canonical_only(benchmark::State& state) {
    const std::string body = chat(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
    cache::canonicalizer c;
    for (auto _ : state) benchmark::DoNotOptimize(c.canonicalize(body, rules).text.data());
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(canonical_only)->Args({1000, 1000})->Args({1, 450});

// A sorting bomb: every level holds two keys in the wrong order.
void nested_unsorted(benchmark::State& state) {
    std::string body;
    for (int i = 0; i < 255; ++i) body += R"({"b":)";
    body += "\"" + std::string(1 << 20, 'x') + "\"";
    for (int i = 0; i < 255; ++i) body += R"(,"a":1})";
    cache::canonicalizer c;
    for (auto _ : state) benchmark::DoNotOptimize(c.canonicalize(body, rules).text.data());
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(nested_unsorted);

}  // namespace

BENCHMARK_MAIN();
