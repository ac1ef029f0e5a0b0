// Golden prompts on one replica: a few of each at every attestation, and at greater length, alone and in company, where
// the upstream is to be evaluated.
#include "gateway/observe/log.hpp"
#include "gateway/replicas/keeper.hpp"
#include "gateway/replicas/keeper_seat.hpp"

namespace idem::gateway::replicas {

using determinism::attestation;
using determinism::attestation_run;

namespace {

/// A neighbour that got no answer asks again so much later.
constexpr net::duration pause = std::chrono::milliseconds(200);

upstream::client::timeouts timeouts_of(const config::upstream_pool& pool) {
    return {pool.connect, pool.first_byte, pool.between_bytes, pool.total};
}

}  // namespace

determinism::golden_prompt keeper::golden(std::size_t which) const {
    determinism::golden_prompt asked = prompts_[which % prompts_.size()];
    asked.body = determinism::with_model(asked.body, model_);
    asked.body = around_.treat(asked);
    return asked;
}

// Each prompt once. False: there is no need to go on.
net::task<bool> keeper::run_golden(seat& s, attestation_run& run, std::string& print) {
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
        auto got = co_await around_.alone(s.index, s.ask.run(golden(i)));
        if (!got.output) {
            run.fail(i, got.detail);
            co_return false;
        }
        if (!got.fingerprint.empty() && engine_.probes.fingerprint) {
            if (!print.empty() && print != got.fingerprint) {
                run.fail(i, "its fingerprint has changed since the prompt before");
                co_return false;
            }
            print = std::move(got.fingerprint);
        }
        if (!run.take(i, *got.output)) co_return false;
    }
    co_return true;
}

// Company for those that count: other prompts, one after the other.
net::task<void> keeper::keep_busy(seat& s, std::shared_ptr<const bool> over, std::size_t which) {
    determinism::prober ask(s.connections, s.at, timeouts_of(pool_), engine_.probes, credential_);
    net::timer wait(on_);
    while (!*over) {
        const auto got = co_await around_.alone(s.index, ask.run(golden(which++)));
        if (got.output) continue;
        wait.expires_after(pause);
        auto [ec] = co_await wait.async_wait(net::use_task);
        if (ec) co_return;
    }
}

net::task<attestation> keeper::attest(seat& s, bool thorough) {
    std::vector<std::string> names;
    for (const determinism::golden_prompt& p : prompts_) names.push_back(p.name);
    attestation_run run(std::move(names));
    if (!model_known_) {
        std::string first;
        if (model_.empty()) first = co_await s.ask.find_model();
        if (model_.empty()) model_ = std::move(first);
        model_known_ = true;
    }
    // However this ends, the neighbours end with it.
    struct company {
        std::shared_ptr<bool> over = std::make_shared<bool>(false);
        ~company() { *over = true; }
    } company;
    const auto& longer = pool_.admission.evaluation;
    const std::uint32_t alone = thorough ? longer.runs : pool_.admission.runs;
    const std::uint32_t beside = thorough && !around_.serial && longer.neighbours > 0 ? longer.runs : 0;
    std::string print;
    std::uint32_t done = 0;
    for (bool on = true; on && done < alone + beside; done += on) {
        if (done == alone) {
            for (std::uint32_t n = 0; n < longer.neighbours; ++n) tasks_.spawn(keep_busy(s, company.over, n + 1));
        }
        const bool more = co_await run_golden(s, run, print);
        on = more;
    }
    attestation made = std::move(run).finish(done);
    made.thorough = thorough;
    if (done >= alone && thorough && !made.detail.empty()) made.detail += ", beside other calls";
    if (made.what == attestation::result::steady && !print.empty()) s.fingerprint = print;
    made.fingerprint = std::move(print);
    if (thorough)
        observe::log(observe::level::info, "replica_evaluated",
                     "upstream " + pool_.name + " replica " + s.replica.id + ": " + std::to_string(done) + " of " +
                         std::to_string(alone + beside) + " runs of each golden prompt, " + std::to_string(beside) +
                         " of them beside " + std::to_string(longer.neighbours) + " other calls" +
                         (made.detail.empty() ? "" : "; " + made.detail));
    co_return made;
}

}  // namespace idem::gateway::replicas
