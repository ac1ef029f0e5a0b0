#include "gateway/pipeline/pin.hpp"

#include <doctest/doctest.h>

using namespace idem;
using idem::gateway::pipeline::pin_of;
using pinning = idem::gateway::config::upstream_pool::pinning;

namespace {

digest by_prefix(std::string_view body, std::string_view model = "m") {
    return pin_of(pinning::prefix, sha256(body), "openai.chat", model, body);
}

}  // namespace

TEST_CASE("pinned by request, a call belongs to its digest") {
    CHECK(pin_of(pinning::request, sha256("r"), "d", "m", "{}") == sha256("r"));
}

TEST_CASE("pinned by prefix, prompts that begin alike belong together, whatever else they ask") {
    const std::string system = R"({"content":")" + std::string(1100, 's') + R"(","role":"system"})";
    const std::string one = R"({"messages":[)" + system + R"(,{"content":"a","role":"user"}],"temperature":0})";
    const std::string two = R"({"max_tokens":9,"messages":[)" + system + R"(,{"content":"b","role":"user"}]})";
    CHECK(by_prefix(one) == by_prefix(two));
    CHECK(by_prefix(one) != by_prefix(one, "other"));
    CHECK(by_prefix(R"({"messages":[{"content":"a"}]})") != by_prefix(R"({"messages":[{"content":"b"}]})"));
    CHECK(by_prefix(R"({"input":"a","instructions":"x"})") != by_prefix(R"({"input":"a","instructions":"y"})"));
}

TEST_CASE("what has no prompt, or is no object, is pinned by its digest") {
    CHECK(by_prefix(R"({"model":"m"})") == sha256(R"({"model":"m"})"));
    CHECK(by_prefix("[]") == sha256("[]"));
    CHECK(by_prefix("") == sha256(""));
}

TEST_CASE("not pinned, calls spread") {
    CHECK(pin_of(pinning::none, sha256("r"), "d", "m", "{}") != pin_of(pinning::none, sha256("r"), "d", "m", "{}"));
}
