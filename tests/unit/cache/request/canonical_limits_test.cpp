// What the canonicaliser costs: no allocation in steady state, and JSON bombs within 100 times their own bytes.
#include <doctest/doctest.h>

#include <malloc.h>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "cache/request/canonical.hpp"

namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> peak{0};

void* counted_or_null(std::size_t size) noexcept {
    void* const p = std::malloc(size);
    if (!p) return nullptr;
    allocations.fetch_add(1, std::memory_order_relaxed);
    const std::size_t now = in_use.fetch_add(malloc_usable_size(p)) + malloc_usable_size(p);
    std::size_t seen = peak.load();
    while (now > seen && !peak.compare_exchange_weak(seen, now)) {
    }
    return p;
}

void* counted(std::size_t size) {
    void* const p = counted_or_null(size);
    if (!p) throw std::bad_alloc();
    return p;
}

void forget(void* p) noexcept {
    if (p) in_use.fetch_sub(malloc_usable_size(p));
    std::free(p);
}

}  // namespace

void* operator new(std::size_t size) {
    return counted(size);
}
void* operator new[](std::size_t size) {
    return counted(size);
}
// All of the family: what one of them gives, one of these must take back.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return counted_or_null(size);
}
void operator delete(void* p) noexcept {
    forget(p);
}
void operator delete[](void* p) noexcept {
    forget(p);
}
void operator delete(void* p, std::size_t) noexcept {
    forget(p);
}
void operator delete[](void* p, std::size_t) noexcept {
    forget(p);
}

using namespace idem;

namespace {

constexpr std::string_view ignored[] = {"/user", "/stream", "**/cache_control", "/messages/*/content/*/x"};
constexpr std::string_view kept[] = {"/tools/*/function/parameters"};
constexpr upstream::dialect::body_rules rules{ignored, kept};

// Peak memory of one call on a fresh object, in bytes; the outcome goes to `why`.
std::size_t cost(const std::string& body, reason& why) {
    const std::size_t before = in_use.load();
    peak.store(before);
    cache::canonicalizer c;
    why = c.canonicalize(body, rules).why;
    return peak.load() - before;
}

void check_bomb(const std::string& body, reason wanted) {
    reason why = reason::none;
    const std::size_t bytes = cost(body, why);
    CHECK(to_string(why) == to_string(wanted));
    CHECK_MESSAGE(bytes < 100 * body.size() + 65536, bytes);
}

std::string repeated(std::string_view piece, std::size_t count) {
    std::string s;
    for (std::size_t i = 0; i < count; ++i) s += piece;
    return s;
}

}  // namespace

TEST_CASE("a short body is canonicalised without allocation once the buffers have grown") {
    std::string body = R"({"model":"m","stream":true,"messages":[{"role":"user","content":"caf\u00e9 )";
    body += std::string(400, 'x') + R"("},{"role":"assistant","content":[{"x":1,"type":"text"}]}],"temperature":0.70,)";
    body += R"("\u0074op_p":1e0,"tools":[{"function":{"parameters":{"b":1,"a":2}}}],"user":null})";
    cache::canonicalizer c;
    static_cast<void>(c.canonicalize(body, rules));
    const std::size_t before = allocations.load();
    for (int i = 0; i < 100; ++i) {
        if (c.canonicalize(body, rules).text.empty()) std::abort();
    }
    CHECK(allocations.load() == before);
}

TEST_CASE("memory that a long body needed is given back") {
    cache::canonicalizer c;
    const std::size_t before = in_use.load();
    static_cast<void>(c.canonicalize("{\"b\":\"" + std::string(32 << 20, 'x') + "\",\"a\":1}", rules));
    static_cast<void>(c.canonicalize("{}", rules));
    CHECK(in_use.load() - before < std::size_t{8} << 20);
}

TEST_CASE("nesting") {
    check_bomb(R"({"a":)" + std::string(100'000, '['), reason::body_too_deep);
    check_bomb(repeated(R"({"a":)", 100'000), reason::body_too_deep);
    check_bomb(R"({"a":[)" + repeated("[[[]]],", 500'000) + "0]}", reason::none);
}

TEST_CASE("a million keys") {
    std::string sorted = "{\"\":0", unsorted = "{\"\":0", equal = "{\"\":0";
    for (int i = 0; i < 1'000'000; ++i) {
        sorted += ",\"" + std::to_string(1'000'000 + i) + "\":1";
        unsorted += ",\"" + std::to_string((i * 7919LL) % 1'000'000) + "\":1";
        equal += ",\"k\":1";
    }
    check_bomb(sorted + "}", reason::none);
    check_bomb(unsorted + "}", reason::none);
    check_bomb(equal + "}", reason::body_duplicate_key);
}

TEST_CASE("a million small objects out of order") {
    check_bomb(R"({"a":[)" + repeated(R"({"b":0,"a":0},)", 1'000'000) + "{}]}", reason::none);
}

TEST_CASE("long numbers") {
    check_bomb(R"({"a":)" + std::string(10'000'000, '9') + "}", reason::body_number_range);
    check_bomb(R"({"a":0.)" + std::string(10'000'000, '9') + "}", reason::none);
    check_bomb(R"({"a":1e)" + std::string(10'000'000, '9') + "}", reason::body_number_range);
    check_bomb(R"({"a":[)" + repeated("1e15,", 1'000'000) + "0]}", reason::none);
}

TEST_CASE("escapes") {
    check_bomb(R"({"a":")" + repeated(R"(\u0000)", 873'813) + "\"}", reason::none);
    check_bomb("{\"" + repeated(R"(\u0000)", 873'813) + "\":1}", reason::none);
}
