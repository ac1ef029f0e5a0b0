#pragma once
// Keeps the epochs of all upstreams: reads them from the shared records, makes those that are missing, opens new ones
// when asked, and publishes what is current. One coroutine on the control thread; propose() and open_new() are called
// there, too. The coordination and the epochs outlive it.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cache/state/epoch_records.hpp"
#include "upstream/net/event.hpp"

namespace idem::gateway::app {

class epoch_keeper {
public:
    /// `watched[i]`: upstream i's environment is measured before its first epoch is made; propose() tells it. Others
    /// get an epoch at once. `shared`: other machines may change the records.
    epoch_keeper(upstream::net::executor on, cache::coordination& in, bool shared, std::vector<std::string> upstreams,
                 const std::vector<bool>& watched, cache::epochs& into);

    [[nodiscard]] upstream::net::task<void> run();
    /// The environment that a first epoch would have.
    void propose(std::size_t upstream, const digest& environment);
    /// From the current epoch to a new one with that environment. False: it could not be written; the log says why.
    [[nodiscard]] upstream::net::task<bool> open_new(std::size_t upstream, digest environment, std::string why);
    /// Called on the control thread after the epoch of an upstream has become another one.
    void on_change(std::function<void(std::size_t)> tell) { tell_ = std::move(tell); }

private:
    struct kept {
        std::string name;
        std::optional<cache::epoch_record> proposal;
    };
    [[nodiscard]] upstream::net::task<bool> look(std::size_t i);
    void publish(std::size_t i, const cache::epoch_record& record);

    upstream::net::event wake_;
    cache::coordination& in_;
    const bool shared_;
    std::vector<kept> upstreams_;
    cache::epochs& into_;
    std::function<void(std::size_t)> tell_;
};

}  // namespace idem::gateway::app
