#pragma once
// Asks one replica what a replica_watch wants to know: is it there, what are its facts, what does it answer to a golden
// prompt. A shell without decisions of its own. One thread; the pool, the target and the profile outlive it.
#include <functional>
#include <optional>
#include <string>

#include "upstream/client/fetch.hpp"
#include "upstream/determinism/environment.hpp"
#include "upstream/determinism/reference.hpp"
#include "upstream/engine/probes.hpp"

namespace idem::upstream::determinism {

class prober {
public:
    /// `credential` yields the fields that go with every request.
    prober(client::pool& connections, const client::target& to, client::timeouts limits, const engine::probe_plan& plan,
           std::function<http::fields()> credential);

    struct health {
        bool reached = false;  // some HTTP answer came
        bool good = false;     // and it was 200
        std::string detail;
    };
    /// `slowly`: the endpoint that makes the engine compute, where there is one. No answer for `patience`: not reached.
    [[nodiscard]] net::task<health> check_health(bool slowly, net::duration patience);

    struct reading {
        std::optional<environment> facts;  // absent: an endpoint could not be read now
        std::string detail;
    };
    [[nodiscard]] net::task<reading> read_facts();

    /// The model to put golden prompts to: the first of /v1/models.
    [[nodiscard]] net::task<std::string> find_model();

    struct answer {
        std::optional<golden_output> output;
        std::string fingerprint;
        std::string detail;  // without output: why
    };
    /// `prompt.body` as it goes on the wire.
    [[nodiscard]] net::task<answer> run(golden_prompt prompt);
    /// Ends the run() that is under way, if any: the replica is gone.
    void give_up() noexcept;

private:
    [[nodiscard]] net::task<client::fetched> get(std::string path, net::duration patience);

    client::pool& connections_;
    const client::target& to_;
    client::timeouts limits_;
    const engine::probe_plan& plan_;
    std::function<http::fields()> credential_;
    client::exchange* running_ = nullptr;  // of run()
};

}  // namespace idem::upstream::determinism
