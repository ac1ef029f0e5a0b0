#include "upstream/engine/idle.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace idem::upstream::engine;

namespace {

std::optional<std::uint64_t> running(std::string_view engine, std::string_view body) {
    const idle_probe* probe = idle_probe_of(engine);
    REQUIRE(probe);
    return probe->running(body);
}

}  // namespace

TEST_CASE("llama.cpp: slots that are at work") {
    CHECK(running("llamacpp", R"([{"id":0,"is_processing":false},{"id":1,"is_processing":false}])") == 0);
    CHECK(running("llamacpp", R"([{"id":0,"is_processing":true},{"id":1,"is_processing":true}])") == 2);
    CHECK(idle_probe_of("llamacpp")->path == "/slots");
    for (const auto body : {"", "[]", "{}", "[{}]", "[1]", R"([{"is_processing":1}])", R"([{"is_processing":false})"})
        CHECK_FALSE(running("llamacpp", body));
}

TEST_CASE("vLLM: calls that run or wait, over all engines of the server") {
    constexpr std::string_view idle =
        "# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
        "# TYPE vllm:num_requests_running gauge\n"
        "vllm:num_requests_running{engine=\"0\",model_name=\"a b\"} 0.0\n"
        "vllm:num_requests_running{engine=\"1\",model_name=\"a b\"} 0.0\n"
        "vllm:num_requests_waiting{engine=\"0\",model_name=\"a b\"} 0.0\n"
        "vllm:num_requests_waiting_by_reason{reason=\"capacity\"} 7.0\n";
    CHECK(running("vllm", idle) == 0);
    std::string busy(idle);
    busy.replace(busy.find("} 0.0"), 5, "} 2.0");
    busy.replace(busy.rfind("} 0.0"), 5, "} 1.0");
    CHECK(running("vllm", busy) == 3);
    CHECK(running("vllm", "vllm:num_requests_running 1\nvllm:num_requests_waiting 1e0") == 2);
    for (const auto body : {"", "vllm:num_requests_running 0\n", "vllm:num_requests_waiting 0\n",
                            "vllm:num_requests_running x\nvllm:num_requests_waiting 0\n",
                            "vllm:num_requests_running -1\nvllm:num_requests_waiting 0\n",
                            "vllm:num_requests_running NaN\nvllm:num_requests_waiting 0\n"})
        CHECK_FALSE(running("vllm", body));
}

TEST_CASE("SGLang: calls that run or wait, of all ranks") {
    CHECK(running("sglang", R"({"loads":[{"num_running_reqs":0,"num_waiting_reqs":0}]})") == 0);
    CHECK(running("sglang", R"({"loads":[{"num_running_reqs":1,"num_waiting_reqs":2},)"
                            R"({"num_running_reqs":4,"num_waiting_reqs":0}]})") == 7);
    for (const auto body : {"", "{}", R"({"loads":[]})", R"({"loads":[{"num_running_reqs":0}]})",
                            R"({"loads":[{"num_running_reqs":-1,"num_waiting_reqs":0}]})"})
        CHECK_FALSE(running("sglang", body));
}

TEST_CASE("the others cannot be asked") {
    for (const auto engine : {"ollama", "tgi", "openai", "generic", "", "no such engine"})
        CHECK(idle_probe_of(engine) == nullptr);
}
