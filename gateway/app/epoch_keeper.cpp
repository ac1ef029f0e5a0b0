#include "gateway/app/epoch_keeper.hpp"

#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;

namespace {

constexpr std::chrono::milliseconds in_trouble{250};
constexpr std::chrono::seconds at_ease{2};

/// The environment of an upstream whose facts nobody has measured or declared: the digest of no facts.
digest unknown_environment() {
    return sha256("environment:unknown");
}

/// Says aloud, once, that a record cannot be read, and once that it can be read again.
void report(const std::string& upstream, reason before, reason now, bool known) {
    if (before == now || (before != reason::entry_unreadable && now != reason::entry_unreadable)) return;
    if (now == reason::none) {
        observe::log(observe::level::info, "epoch_readable", "upstream " + upstream);
    } else if (now == reason::entry_unreadable) {
        observe::log(observe::level::error, "epoch_unreadable",
                     "the store's record of the epoch of upstream " + upstream +
                         " is damaged or of a newer format and is left alone; " +
                         (known ? "the epoch that was read before stays"
                                : "its requests pass uncached until it is repaired or deleted"));
    }
}

}  // namespace

net::task<void> keep_epochs(net::executor on, cache::store* second, bool shared_store,
                            std::vector<std::string> upstreams, cache::epochs& into) {
    std::vector<cache::epoch_record> proposals;
    for (std::size_t i = 0; i < upstreams.size(); ++i) proposals.push_back({random_id(), unknown_environment()});
    net::timer wake(on);
    for (;;) {
        bool hurry = false;
        for (std::size_t i = 0; i < upstreams.size(); ++i) {
            if (!second) {
                into.set(i, proposals[i]);
                continue;
            }
            const cache::epoch_result got = co_await second->epoch(upstreams[i], proposals[i]);
            const reason trouble = got.ok ? reason::none : got.why;
            report(upstreams[i], into.trouble(i), trouble, into.get(i).has_value());
            into.note(i, trouble);
            if (got.ok) {
                if (into.get(i) && got.record != proposals[i])
                    observe::log(observe::level::warning, "epoch_changed",
                                 "another gateway's epoch won for upstream " + upstreams[i]);
                proposals[i] = got.record;
                into.set(i, got.record);
            } else if (!shared_store) {
                into.set(i, proposals[i]);
            }
            // After damage whoever knows the epoch should be there before those who can only open a new one.
            const bool ignorant = trouble == reason::entry_unreadable && !into.get(i);
            hurry = hurry || (trouble != reason::none && !ignorant);
        }
        into.mark_asked();
        // An embedded store has one writer's world: what was read or chosen stays.
        if (!second || !shared_store) co_return;
        wake.expires_after(hurry ? net::duration(in_trouble) : net::duration(at_ease));
        auto [ec] = co_await wake.async_wait(net::use_task);
        if (ec) co_return;
    }
}

}  // namespace idem::gateway::app
