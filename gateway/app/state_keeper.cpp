#include "gateway/app/state_keeper.hpp"

#include <algorithm>
#include <cstring>

#include "gateway/observe/log.hpp"
#include "gateway/pipeline/services.hpp"
#include "upstream/determinism/environment.hpp"

namespace idem::gateway::app {

namespace net = idem::upstream::net;
using cache::record_status;
using cache::state_record;

namespace {

constexpr const char* name = "state";
constexpr std::chrono::milliseconds in_trouble{250}, at_ease{500};
// No fill lasts so long, so nothing that was begun before a ban on its key is stored any more.
constexpr cache::unix_ms settled_after = std::chrono::milliseconds(std::chrono::hours(1)).count();

std::uint64_t random_word() {
    const id128 id = random_id();
    std::uint64_t out;
    std::memcpy(&out, id.bytes.data(), sizeof out);
    return out;
}

/// Says aloud, once, that the record cannot be used, and once that it can be again.
void report(reason before, reason now, bool known) {
    const auto told = [](reason r) { return r == reason::entry_unreadable || r == reason::secret_mismatch; };
    if (before == now || (!told(before) && !told(now))) return;
    const std::string then = known ? "; what was read before stays" : "; requests pass uncached";
    if (now == reason::none)
        observe::log(observe::level::info, "state_readable", "the store's state record can be read again");
    else if (now == reason::entry_unreadable)
        observe::log(observe::level::error, "state_unreadable",
                     "the store's state record is damaged or of a newer format and is left alone until it is repaired "
                     "or deleted" +
                         then);
    else if (now == reason::secret_mismatch)
        observe::log(observe::level::error, "secret_mismatch",
                     "the gateways on this store have another cache.key_secret; give all the same one, or this one a "
                     "store or prefix of its own" +
                         then);
}

}  // namespace

state_keeper::state_keeper(net::executor on, cache::coordination& in, bool shared, std::vector<upstream> upstreams,
                           std::optional<digest> secret, cache::epochs& epochs, cache::bans& bans)
    : wake_(on), in_(in), shared_(shared), secret_(secret), epochs_(epochs), bans_(bans) {
    for (upstream& u : upstreams) {
        kept k{std::move(u), {}, random_id()};
        if (!k.of.watched) k.environment = idem::upstream::determinism::unwatched_environment();
        upstreams_.push_back(std::move(k));
    }
}

void state_keeper::propose(std::size_t upstream, const digest& environment) {
    kept& k = upstreams_[upstream];
    if (k.environment) return;
    k.environment = environment;
    wake_.notify();
}

void state_keeper::note(reason trouble) {
    report(epochs_.trouble(0), trouble, known_.has_value());
    for (std::size_t i = 0; i < upstreams_.size(); ++i) epochs_.note(i, trouble);
}

void state_keeper::publish_epoch(std::size_t i, const cache::epoch_record& record) {
    const auto before = epochs_.get(i);
    if (before == record) return;
    if (before)
        observe::log(observe::level::warning, "epoch_changed",
                     "upstream " + upstreams_[i].of.name + " has another epoch: " + to_hex(record.id.bytes));
    epochs_.set(i, record);
    if (tell_) tell_(i);
}

// Bans before epochs: whoever sees the new epoch knows what was purged before it.
void state_keeper::publish(state_record now) {
    const auto before = bans_.table();
    known_ = std::move(now);
    bans_.set(*known_);
    if (erasure_ && bans_.table()->last_erasure() > before->last_erasure()) erasure_();
    for (std::size_t i = 0; i < upstreams_.size(); ++i) {
        const cache::upstream_epochs* u = known_->find(upstreams_[i].of.name);
        if (!u) continue;
        cache::epoch_record current = u->find(u->current)->what;
        current.by_hand = u->by_hand;
        publish_epoch(i, current);
    }
}

bool state_keeper::lacks_upstream(const state_record& r) const {
    return std::ranges::any_of(upstreams_, [&](const kept& k) { return k.environment && !r.find(k.of.name); });
}

// A new id each time: an upstream that a new lineage lacks must not get back the epoch that it had in the old one.
void state_keeper::add_upstreams(state_record& r) const {
    for (const kept& k : upstreams_) {
        if (!k.environment) continue;
        cache::add_upstream(r, k.of.name, {random_id(), *k.environment}, pipeline::unix_ms_now(), "the first");
    }
}

state_record state_keeper::first() const {
    return cache::begin_state(random_word(), random_word(), secret_);
}

net::task<state_keeper::found> state_keeper::find() {
    found out;
    cache::record_result there = co_await in_.read_record(name);
    out.version = there.version;
    if (there.status == record_status::failed) {
        out.why = there.why;
        co_return out;
    }
    std::optional<state_record> read;
    if (there.status == record_status::ok) {
        read = cache::decode_state(there.value);
        out.why = !read ? reason::entry_unreadable : read->secret != secret_ ? reason::secret_mismatch : reason::none;
        if (out.why != reason::none) co_return out;
    } else {
        out.version = 0;
    }
    if (!known_) {
        out.begun = !read;
        out.record = read ? std::move(read) : first();
    } else if (!read || cache::compare(*read, known_->mark()) == cache::continuity::lost) {
        observe::log(observe::level::warning, "state_lost",
                     "the store has lost its state record, or part of it: all upstreams get new epochs");
        out.begun = true;
        out.record = cache::begin_again(*known_, read ? &*read : nullptr, random_word(), random_word(),
                                        pipeline::unix_ms_now(), random_id);
    } else {
        out.record = std::move(read);
    }
    co_return out;
}

// Whether the store should be asked again soon.
net::task<bool> state_keeper::look() {
    found now = co_await find();
    note(now.why);
    if (!now.record) {
        // A store of this machine alone is broken: nobody else has an epoch.
        const bool alone = !shared_ && !known_ && now.why != reason::entry_unreadable;
        for (std::size_t i = 0; alone && i < upstreams_.size(); ++i)
            if (upstreams_[i].environment && !epochs_.get(i))
                publish_epoch(i, {upstreams_[i].alone, *upstreams_[i].environment});
        co_return true;
    }
    if (!now.begun && !lacks_upstream(*now.record)) {
        if (known_ != now.record) publish(std::move(*now.record));
        co_return false;
    }
    const changed made = co_await change([](state_record&) { return std::string(); });
    co_return made.is != changed::status::done;
}

net::task<state_keeper::changed> state_keeper::change(std::function<std::string(state_record&)> edit) {
    constexpr int tries = 16;
    for (int i = 0; i < tries; ++i) {
        found now = co_await find();
        if (!now.record) co_return changed{changed::status::failed, {}, now.why};
        state_record& r = *now.record;
        add_upstreams(r);
        std::string refused = edit(r);
        if (!refused.empty()) co_return changed{changed::status::refused, std::move(refused), reason::none};
        cache::commit(r, random_word());
        std::string text = encode(r);
        if (text.size() > cache::longest_record / 2) {
            [[maybe_unused]] const auto gone = cache::drop_settled(r, pipeline::unix_ms_now() - settled_after);
            text = encode(r);
        }
        if (text.size() > cache::longest_record)
            co_return changed{changed::status::refused,
                              "there are too many purges to remember them one by one; purge by tag, model or route, or "
                              "all",
                              reason::none};
        const cache::record_result put = co_await in_.write_record(name, std::move(text), now.version);
        if (put.status == record_status::ok) {
            publish(std::move(r));
            co_return changed{changed::status::done, {}, reason::none};
        }
        if (put.status == record_status::failed) co_return changed{changed::status::failed, {}, put.why};
    }
    co_return changed{changed::status::failed, {}, reason::store_unavailable};
}

net::task<void> state_keeper::run() {
    for (;;) {
        const bool hurry = co_await look();
        epochs_.mark_asked();
        co_await wake_.wait(net::clock::now() + (hurry ? net::duration(in_trouble) : net::duration(at_ease)));
    }
}

net::task<bool> state_keeper::follow(std::size_t upstream, digest environment, std::string why) {
    const std::string of = upstreams_[upstream].of.name;
    const auto from = epochs_.get(upstream);
    const cache::upstream_epochs* is = known_ ? known_->find(of) : nullptr;
    if (!from || (is && is->by_hand)) co_return false;
    const cache::epoch_record next{random_id(), environment};
    const changed made = co_await change([&of, &from, &next, &why](state_record& r) -> std::string {
        const cache::upstream_epochs* u = r.find(of);
        if (u && (u->current != from->id || u->by_hand)) return "passed";
        cache::open_epoch(r, of, next, pipeline::unix_ms_now(), why);
        return {};
    });
    if (made.is == changed::status::done)
        observe::log(observe::level::warning, "epoch_opened",
                     "upstream " + of + ": " + to_hex(next.id.bytes) + ", " + why);
    else if (made.is == changed::status::failed)
        observe::log(observe::level::error, "epoch_not_opened",
                     "upstream " + of + ": " + std::string(to_string(made.why)));
    else
        wake_.notify();  // another gateway has: it is read now
    co_return made.is == changed::status::done;
}

}  // namespace idem::gateway::app
