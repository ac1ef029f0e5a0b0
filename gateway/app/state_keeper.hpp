#pragma once
// Keeps the state record (cache/state/state_record.hpp): reads it twice a second, makes it where there is none, begins
// a new lineage where it was lost, changes it when asked, and publishes epochs and bans. One coroutine on the control
// thread; every call comes from there, too. What it is given outlives it.
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/state/bans.hpp"
#include "cache/state/epochs.hpp"
#include "cache/state/state_record.hpp"
#include "cache/store/coordination.hpp"
#include "upstream/net/event.hpp"

namespace idem::gateway::app {

class state_keeper {
public:
    struct upstream {
        std::string name;
        bool watched = false;  // its environment is measured before its first epoch is made: propose() tells it
    };
    /// `shared`: other machines may change the record. `secret`: proof of cache.key_secret.
    state_keeper(idem::upstream::net::executor on, cache::coordination& in, bool shared,
                 std::vector<upstream> upstreams, std::optional<digest> secret, cache::epochs& epochs,
                 cache::bans& bans);

    [[nodiscard]] idem::upstream::net::task<void> run();
    /// The environment that a first epoch would have.
    void propose(std::size_t upstream, const digest& environment);

    struct changed {
        enum class status : std::uint8_t {
            done,
            refused,  // by the edit: `detail`
            failed,   // the store could not be read or written: `why`
        } is = status::failed;
        std::string detail;
        reason why = reason::none;
    };
    /// Applies `edit` to what the store holds now, as often as another gateway was faster, and writes it. What `edit`
    /// returns says why it does not want to; nothing is written then. Done means that the store has it.
    [[nodiscard]] idem::upstream::net::task<changed> change(std::function<std::string(cache::state_record&)> edit);
    /// From the current epoch to a new one with that environment; one that another gateway has opened meanwhile does,
    /// too. False: it could not be, and the log says why; or an operator has gone back to an older one by hand.
    [[nodiscard]] idem::upstream::net::task<bool> follow(std::size_t upstream, digest environment, std::string why);

    /// As it was read last; null before the first time.
    [[nodiscard]] const cache::state_record* known() const noexcept { return known_ ? &*known_ : nullptr; }
    /// Called on the control thread after the epoch of an upstream has become another one.
    void on_change(std::function<void(std::size_t)> tell) { tell_ = std::move(tell); }
    /// Called on the control thread when copies of what was erased have to go.
    void on_erasure(std::function<void()> tell) { erasure_ = std::move(tell); }

private:
    struct kept {
        upstream of;
        std::optional<digest> environment;  // that a first epoch would have
        id128 alone;                        // its id, should there be no store to make one in
    };
    struct found {
        std::optional<cache::state_record> record;  // what is to be gone on from
        std::uint64_t version = 0;                  // of what the store holds
        bool begun = false;                         // the record is ours, and not written yet
        reason why = reason::none;                  // nothing was found for this reason
    };
    [[nodiscard]] idem::upstream::net::task<bool> look();
    [[nodiscard]] idem::upstream::net::task<found> find();
    [[nodiscard]] cache::state_record first() const;
    [[nodiscard]] bool lacks_upstream(const cache::state_record& r) const;
    void add_upstreams(cache::state_record& r) const;
    void publish(cache::state_record now);
    void publish_epoch(std::size_t i, const cache::epoch_record& record);
    void note(reason trouble);

    idem::upstream::net::event wake_;
    cache::coordination& in_;
    const bool shared_;
    std::vector<kept> upstreams_;
    const std::optional<digest> secret_;
    cache::epochs& epochs_;
    cache::bans& bans_;
    std::optional<cache::state_record> known_;
    std::function<void(std::size_t)> tell_;
    std::function<void()> erasure_;
};

}  // namespace idem::gateway::app
