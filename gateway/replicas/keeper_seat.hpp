#pragma once
// What a keeper knows of one replica. Used by the keeper's own files alone. Control thread.
#include <chrono>

#include "gateway/replicas/keeper.hpp"

namespace idem::gateway::replicas {

inline std::int64_t unix_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// One replica, and what this gateway knows of it.
struct keeper::seat {
    seat(net::executor on, std::size_t number, const config::replica& r, determinism::watch_settings settings,
         upstream::client::timeouts limits, const upstream::engine::profile& engine,
         const std::function<upstream::http::fields()>& credential)
        : index(number),
          replica(r),
          at(upstream::client::beside_api(r.at)),
          connections(on),
          ask(connections, at, limits, engine.probes, credential),
          watch(settings),
          wake(std::make_shared<net::event>(on)),
          listener(std::make_shared<net::event>(on)) {}

    const std::size_t index;
    const config::replica& replica;
    const upstream::client::target at;
    upstream::client::pool connections;
    determinism::prober ask;
    determinism::replica_watch watch;
    std::shared_ptr<net::event> wake;
    std::shared_ptr<net::event> listener;  // wakes listen()
    bool doubted = false;                  // a call waits for it, and nobody has looked since
    net::time_point deaf_until{};          // its engine hears of no call
    bool attesting = false;                // golden prompts are being run
    unsigned silences = 0;                 // looks in a row that it did not answer
    bool watching = false;                 // this gateway holds the lease
    bool followed = false;                 // what another gateway found is known
    bool taken_up = false;                 // what was written down before has been read
    bool suspected = false;                // and nobody has looked since
    std::int64_t suspected_at = 0;
    bool records = false;  // an operator wants the next outputs to be the reference
    std::uint64_t orders_done = 0;
    std::uint64_t version = 0;  // of its record
    std::string written;        // its record as written last, but for the time
    net::time_point written_at{};
    std::string fingerprint;
    net::time_point slow_health_due{};
    std::optional<finding> found;  // by whoever watches, where that is another gateway

    [[nodiscard]] std::optional<digest> environment() const {
        if (watching) return watch.read() ? std::optional(watch.read()->id()) : std::nullopt;
        if (found && found->now.facts) return found->now.environment;
        return std::nullopt;
    }
    [[nodiscard]] determinism::ballot vote() const {
        const determinism::environment* facts = nullptr;
        if (watching) {
            if (watch.read()) facts = &*watch.read();
        } else if (found) {
            facts = found->now.facts.get();
        }
        return {environment(), facts ? determinism::facts_told(*facts) : 0};
    }
    /// The last steady attestation in that environment; absent: none.
    [[nodiscard]] std::optional<determinism::attestation> given() const {
        if (watching) return watch.attested() ? std::optional(*watch.attested()) : std::nullopt;
        if (!found || found->outputs.empty()) return std::nullopt;
        return determinism::attestation{
            determinism::attestation::result::steady, found->outputs, 0, {}, found->now.fingerprint};
    }
    /// In the epoch's environment by its facts, and another server by its answers.
    [[nodiscard]] bool moved(const digest& epochs) const {
        if (watching) return watch.moved();
        return found && found->now.state == determinism::replica_state::quarantined &&
               found->now.why == determinism::cause::environment_changed && environment() == epochs;
    }
};

}  // namespace idem::gateway::replicas
