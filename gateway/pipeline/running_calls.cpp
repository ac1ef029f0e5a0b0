#include "gateway/pipeline/running_calls.hpp"

#include "upstream/client/fetch.hpp"
#include "upstream/engine/idle.hpp"

namespace idem::gateway::pipeline {

namespace {

constexpr net::duration answer_within = std::chrono::seconds(2);
constexpr std::size_t longest_answer = std::size_t{1} << 20;

}  // namespace

net::task<std::optional<std::uint64_t>> running_calls(upstream::client::pool& connections, const upstream_plan& to,
                                                      upstream_health& health, std::size_t replica) {
    const auto* probe = upstream::engine::idle_probe_of(to.settings->engine);
    if (!probe) co_return std::nullopt;
    const upstream::client::target server = upstream::client::beside_api(to.settings->replicas[replica].at);
    upstream::client::outgoing question;
    question.method = "GET";
    question.headers.add("Accept-Encoding", "identity");
    health.credential.add_to(question.headers, net::clock::now());
    const upstream::client::fetched got = co_await upstream::client::fetch(
        connections, server, {answer_within, answer_within, answer_within, answer_within}, std::move(question),
        std::string(probe->path), {}, longest_answer);
    if (got.broke || got.status != 200) co_return std::nullopt;
    co_return probe->running(got.body);
}

}  // namespace idem::gateway::pipeline
