// Speed and allocations of the canonical form and of the request digest on one core: a chat body of 1,000 messages (1
// MB) and one of 600 bytes; beside them what a policy that changes bodies adds. tests/bench/key_cost.py reads it.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "cache/request/canonical.hpp"
#include "cache/request/key.hpp"
#include "cache/request/memo.hpp"
#include "cache/request/rewrite.hpp"
#include "upstream/dialect/dialect.hpp"

namespace {

std::size_t allocations = 0;

void* counted(std::size_t size) {
    ++allocations;
    if (void* const p = std::malloc(size)) return p;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
    return counted(size);
}
void* operator new[](std::size_t size) {
    return counted(size);
}
void operator delete(void* p) noexcept {
    std::free(p);
}
void operator delete[](void* p) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
    std::free(p);
}

using namespace idem;

namespace {

// Allocations of one iteration, without those of the first: buffers grow once.
class allocation_count {
public:
    explicit allocation_count(benchmark::State& state) : state_(state) {}
    ~allocation_count() {
        state_.counters["allocations"] =
            benchmark::Counter(static_cast<double>(allocations - before_), benchmark::Counter::kAvgIterations);
    }
    allocation_count(const allocation_count&) = delete;
    allocation_count& operator=(const allocation_count&) = delete;

private:
    benchmark::State& state_;
    std::size_t before_ = allocations;
};

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
    const cache::rule_set prepared(upstream::dialect::by_name("openai.chat")->rules());
    cache::canonicalizer c;
    static_cast<void>(c.canonicalize(body, prepared));
    cache::request_parts parts;
    static_cast<void>(cache::request_digest(parts));
    {
        const allocation_count counts(state);
        for (auto _ : state) {
            parts.body = c.canonicalize(body, prepared).text;
            benchmark::DoNotOptimize(cache::request_digest(parts));
        }
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(canonical_and_digest)->Args({1000, 950})->Args({1, 450});

// Of a policy that changes bodies, where it finds nothing to change and where it changes every message.
void rewriting(benchmark::State& state) {
    std::string body = chat(static_cast<std::size_t>(state.range(0)), 950);
    const auto at_end = [&](std::size_t from) { return body.find("\"}", from); };
    for (std::size_t i = at_end(0); state.range(1) != 0 && i != body.npos; i = at_end(i + 3)) body.insert(i, " ");
    const auto text = upstream::dialect::by_name("openai.chat")->rules().prompt_text;
    const cache::rewriting by{cache::rule_set({}, text), {true, false, true}};
    cache::rewriter r;
    for (auto _ : state) benchmark::DoNotOptimize(r.rewrite(body, by));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(rewriting)->Args({1000, 0})->Args({1000, 1});

void canonical_only(benchmark::State& state) {
    const std::string body = chat(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
    cache::canonicalizer c;
    for (auto _ : state) benchmark::DoNotOptimize(c.canonicalize(body, rules).text.data());
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(canonical_only)->Args({1000, 950})->Args({1, 450});

// Whole requests in the memory of one thread, found one after the other.
void memo_hit(benchmark::State& state) {
    struct value {
        digest request, scope;
    };
    const auto kept_bodies = static_cast<std::size_t>(state.range(0));
    constexpr std::array<std::string_view, 8> head{
        "POST", "/v1/chat/completions", "application/json", "Bearer sk-0123456789abcdef0123456789abcdef", {}, {}, {},
        {}};
    cache::memo<value> memo(16 << 20, 1);
    std::vector<std::string> bodies;
    for (std::size_t i = 0; i < kept_bodies; ++i) {
        bodies.push_back(chat(1, 450) + std::string(i % 7, ' ') + std::to_string(i));
        memo.insert(head, bodies.back(), {});
    }
    std::size_t i = 0, found = 0;
    for (auto _ : state) {
        found += memo.find(head, bodies[i]) != nullptr;
        if (++i == bodies.size()) i = 0;
    }
    state.counters["found"] = static_cast<double>(found) / static_cast<double>(state.iterations());
}
BENCHMARK(memo_hit)->Arg(1)->Arg(1000);

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
