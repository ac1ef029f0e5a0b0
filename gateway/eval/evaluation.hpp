#pragma once
// One evaluation under way: what runner.cpp plans and conditions.cpp carries out. Used by these alone; one io_context.
#include <fstream>
#include <memory>
#include <optional>
#include <set>

#include "gateway/eval/asker.hpp"
#include "gateway/eval/forms.hpp"
#include "gateway/eval/runner.hpp"
#include "upstream/base/sequence.hpp"
#include "upstream/client/pool.hpp"
#include "upstream/determinism/prober.hpp"
#include "upstream/net/task_group.hpp"

namespace idem::gateway::eval {

namespace client = upstream::client;
namespace determinism = upstream::determinism;

/// A server beside the target that should answer as it does.
struct sibling {
    client::target at;      // of its API
    client::target beside;  // of its other pages
    determinism::prober prober;
    std::string environment{};

    sibling(client::pool& connections, const client::target& to, const run_settings& settings,
            const upstream::engine::profile& engine)
        : at(to),
          beside(client::beside_api(to)),
          prober(connections, beside, settings.timeouts, engine.probes, [&settings] { return settings.credential; }) {}
};

class evaluation {
public:
    evaluation(net::executor on, const run_settings& settings, manifest& about, std::vector<cell> cells)
        : on_(on),
          settings_(settings),
          about_(about),
          cells_(std::move(cells)),
          engine_(*upstream::engine::find(about.engine)),
          beside_(client::beside_api(settings.to)),
          connections_(on),
          prober_(connections_, beside_, settings.timeouts, engine_.probes, [this] { return settings_.credential; }),
          tasks_(on, [](std::exception_ptr) {}),
          random_(about.seed) {
        for (std::size_t i = 1; i < settings.replicas.size(); ++i)
            siblings_.push_back(std::make_unique<sibling>(connections_, settings.replicas[i], settings, engine_));
    }

    net::task<void> go(const std::function<void(const manifest&, const forecast&)>* announce,
                       const std::function<void(const progress&)>* show, outcome* end);
    /// Whoever waits for an answer waits no longer.
    void stop() noexcept {
        stopped_ = true;
        live_.abort();
    }
    void close() { connections_.drain(); }

private:
    net::task<std::string> environment();
    net::task<std::string> environment_of(determinism::prober& at, std::vector<std::string>* facts);
    net::task<void> look_elsewhere();
    [[nodiscard]] std::string elsewhere() const;
    net::task<std::string> tokenize_prompts();
    net::task<std::vector<double>> try_prompts(std::string& why);
    [[nodiscard]] forecast forecast_of(const std::vector<block>& plan, const std::vector<double>& call_ms) const;
    [[nodiscard]] unsigned answers_in_a_run(const block& b) const;
    net::task<void> carry_out(block b);
    /// `at`: the gateway or the replica to ask in the target's place.
    net::task<void> one(block b, unsigned run, std::string variant, std::string body, std::uint64_t seed,
                        const client::target* at = nullptr);
    net::task<std::string> start_anew();
    net::task<void> both_ways(block b, unsigned run);
    net::task<void> everywhere(block b, unsigned run);
    net::task<void> after_its_beginning(block b, unsigned run);
    net::task<void> burst(block b);
    net::task<void> history(block b, unsigned run);
    net::task<bool> call_beside(neighbour n);
    net::task<bool> call_other(const prompt* beside);
    net::task<void> call_others(const prompt* before);
    net::task<void> keep_busy(const prompt* beside);
    net::task<void> watch_engine();
    void skip_what_cannot_be();
    std::string keep_ended_blocks(std::set<unsigned>& ended);
    void fit_budget(const std::vector<double>& call_ms);
    const prompt& prompt_of(const block& b) const { return about_.prompts[b.prompt]; }
    void write(const std::string& line) { lines_ << line << '\n'; }

    net::executor on_;
    const run_settings& settings_;
    manifest& about_;
    std::vector<cell> cells_;
    const upstream::engine::profile& engine_;
    const client::target beside_;
    client::pool connections_;
    determinism::prober prober_;
    std::vector<std::unique_ptr<sibling>> siblings_;
    std::optional<forms> forms_;
    net::task_group tasks_;
    sequence random_;
    std::ofstream lines_;
    std::string environment_now_;
    std::uint64_t asked_ = 0;  // of neighbours and of calls before a run
    std::uint64_t done_ = 0;
    unsigned in_flight_ = 0, peak_in_flight_ = 0;
    int peak_running_ = -1;
    unsigned lifetime_ = 0;
    bool stopped_ = false;
    bool noisy_ = false;  // neighbours go on
    bool watched_ = false;
    live_calls live_;
    unsigned others_answered_ = 0, others_failed_ = 0;
};

}  // namespace idem::gateway::eval
