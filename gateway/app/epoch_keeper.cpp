#include "gateway/app/epoch_keeper.hpp"

#include "gateway/observe/log.hpp"
#include "upstream/determinism/environment.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;
using cache::epoch_result;

namespace {

constexpr std::chrono::milliseconds in_trouble{250};
constexpr std::chrono::seconds at_ease{2};

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

epoch_keeper::epoch_keeper(net::executor on, cache::coordination& in, bool shared, std::vector<std::string> upstreams,
                           const std::vector<bool>& watched, cache::epochs& into)
    : wake_(on), in_(in), shared_(shared), into_(into) {
    for (std::size_t i = 0; i < upstreams.size(); ++i) {
        upstreams_.push_back({std::move(upstreams[i]), {}});
        if (!watched[i]) upstreams_.back().proposal = {random_id(), upstream::determinism::unwatched_environment()};
    }
}

void epoch_keeper::propose(std::size_t upstream, const digest& environment) {
    kept& k = upstreams_[upstream];
    if (k.proposal) return;
    k.proposal = {random_id(), environment};
    wake_.notify();
}

void epoch_keeper::publish(std::size_t i, const cache::epoch_record& record) {
    const auto before = into_.get(i);
    upstreams_[i].proposal = record;  // given back to a store that lost it
    if (before == record) return;
    into_.set(i, record);
    if (tell_) tell_(i);
}

// Whether it should be asked again soon.
net::task<bool> epoch_keeper::look(std::size_t i) {
    kept& k = upstreams_[i];
    const epoch_result got = co_await cache::current_epoch(in_, k.name, k.proposal);
    const bool failed = got.is == epoch_result::status::failed;
    const reason trouble = failed ? got.why : reason::none;
    report(k.name, into_.trouble(i), trouble, into_.get(i).has_value());
    into_.note(i, trouble);
    if (got.is == epoch_result::status::known) {
        const auto before = into_.get(i);
        if (before && *before != got.record)
            observe::log(observe::level::warning, "epoch_changed",
                         "upstream " + k.name + " has another epoch: " + to_hex(got.record.id.bytes));
        publish(i, got.record);
    } else if (failed && !shared_ && k.proposal) {
        // A store of this machine alone is broken: nobody else has an epoch.
        publish(i, *k.proposal);
    }
    // After damage whoever knows the epoch should be there before those who can only open a new one.
    const bool ignorant = trouble == reason::entry_unreadable && !into_.get(i);
    co_return failed && !ignorant;
}

net::task<void> epoch_keeper::run() {
    for (;;) {
        bool hurry = false;
        for (std::size_t i = 0; i < upstreams_.size(); ++i) {
            const bool again = co_await look(i);
            hurry = hurry || again;
        }
        into_.mark_asked();
        co_await wake_.wait(net::clock::now() + (hurry ? net::duration(in_trouble) : net::duration(at_ease)));
    }
}

net::task<bool> epoch_keeper::open_new(std::size_t upstream, digest environment, std::string why) {
    const std::string name = upstreams_[upstream].name;
    const auto now = into_.get(upstream);
    if (!now) co_return false;
    const epoch_result got = co_await cache::advance_epoch(in_, name, now->id, {random_id(), environment});
    if (got.is == epoch_result::status::known || got.is == epoch_result::status::passed) {
        observe::log(observe::level::warning, "epoch_opened",
                     "upstream " + name + ": " + to_hex(got.record.id.bytes) + ", " + why);
        publish(upstream, got.record);
        co_return true;
    }
    observe::log(observe::level::error, "epoch_not_opened",
                 "upstream " + name + ": " + std::string(to_string(got.why)));
    co_return false;
}

}  // namespace idem::gateway::app
