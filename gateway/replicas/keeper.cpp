#include "gateway/replicas/keeper.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "gateway/observe/log.hpp"
#include "gateway/replicas/keeper_seat.hpp"

namespace idem::gateway::replicas {

using determinism::attestation;
using determinism::cause;
using determinism::condition;
using determinism::replica_state;
using determinism::replica_watch;

namespace {

/// How late it is noticed that a replica has closed the connection that was kept to it.
constexpr net::duration glance = std::chrono::milliseconds(250);
/// A health endpoint that lets the engine compute is asked no more often.
constexpr net::duration seldom = std::chrono::minutes(1);
constexpr net::duration slow_patience = std::chrono::seconds(5);
/// Watching for others to read costs a record in so long.
constexpr net::duration refresh = std::chrono::seconds(2);
constexpr std::chrono::milliseconds lease_length{5000};

determinism::watch_settings settings_of(const config::upstream_pool& pool) {
    determinism::watch_settings s;
    s.health_interval = pool.admission.health_interval;
    s.facts_interval = pool.environment.interval;
    s.attest_interval = pool.admission.interval;
    s.attests = pool.admission.runs > 0;
    s.evaluation_interval = pool.admission.evaluation.interval;
    return s;
}

upstream::client::timeouts timeouts_of(const config::upstream_pool& pool) {
    return {pool.connect, pool.first_byte, pool.between_bytes, pool.total};
}

}  // namespace

keeper::keeper(net::executor on, net::task_group& tasks, std::size_t index, const config::upstream_pool& pool,
               const upstream::engine::profile& engine, std::vector<determinism::golden_prompt> prompts,
               std::function<upstream::http::fields()> credential, determinism::roster& states, surroundings around)
    : on_(on),
      tasks_(tasks),
      index_(index),
      pool_(pool),
      engine_(engine),
      prompts_(std::move(prompts)),
      credential_(std::move(credential)),
      states_(states),
      around_(std::move(around)),
      self_(random_id()),
      tick_(std::clamp<net::duration>(pool.admission.health_interval, std::chrono::milliseconds(50),
                                      std::chrono::seconds(1))),
      model_(pool.admission.model),
      unsettled_(on) {
    for (std::size_t i = 0; i < pool_.replicas.size(); ++i)
        seats_.emplace_back(on_, i, pool_.replicas[i], settings_of(pool_), timeouts_of(pool_), engine_, credential_);
}

keeper::~keeper() = default;

void keeper::start() {
    states_.on_suspect([this](std::size_t i) {
        net::asio::post(on_, [this, i] {
            seat& s = *std::next(seats_.begin(), static_cast<std::ptrdiff_t>(i));
            s.suspected = true;
            s.suspected_at = unix_ms();
            s.wake->notify();
        });
    });
    states_.on_doubt([this](std::size_t i) {
        net::asio::post(on_, [this, i] {
            seat& s = *std::next(seats_.begin(), static_cast<std::ptrdiff_t>(i));
            s.doubted = true;
            s.listener->notify();
        });
    });
    for (seat& s : seats_) {
        tasks_.spawn(watch(s));
        tasks_.spawn(listen(s));
    }
    tasks_.spawn(settle_for_ever());
}

void keeper::stop() {
    for (seat& s : seats_) s.connections.drain();
}

void keeper::epoch_changed() {
    for (seat& s : seats_) s.wake->notify();
    unsettled_.notify();
}

net::task<void> keeper::watch(seat& s) {
    for (;;) {
        const bool mine = co_await holds(s);
        if (mine && !s.watching) co_await take_up(s);
        s.watching = mine;
        net::time_point until = net::clock::now() + tick_;
        if (mine) {
            co_await obey(s);
            co_await work(s);
            until = std::min(until, s.watch.next(net::clock::now()).until);
        } else {
            co_await follow(s);
        }
        co_await rest(s, until);
    }
}

// Until there is something to do. A connection that is gone is a reason: the server may be gone with it.
net::task<void> keeper::rest(seat& s, net::time_point until) {
    const bool had_connection = s.connections.idle() > 0;
    for (;;) {
        const net::time_point now = net::clock::now();
        if (now >= until || s.suspected) co_return;
        const bool woken = co_await s.wake->wait(std::min(until, now + glance));
        if (woken) co_return;
        if (had_connection && s.connections.idle() == 0 && s.watching) {
            const auto h = co_await s.ask.check_health(false, health_patience());
            if (!h.reached) s.suspected = true;
            co_return;
        }
    }
}

net::task<bool> keeper::holds(seat& s) {
    if (!around_.shared) co_return true;
    const cache::lease_result got =
        co_await around_.in.lease(attest_lease(pool_.name, s.replica.id), self_, lease_length);
    // Without the store everybody watches for himself.
    co_return got.status != cache::lease_status::taken;
}

// What stays through restarts and changes of the watcher.
net::task<void> keeper::take_up(seat& s) {
    const cache::record_result there = co_await around_.in.read_record(replica_name(pool_.name, s.replica.id));
    s.version = there.status == cache::record_status::ok ? there.version : 0;
    s.written.clear();
    auto f = decode_finding(there.value);
    // A store that is gone has not changed what was found a moment ago.
    if (there.status == cache::record_status::failed && s.followed) f = s.found;
    if (!f) co_return;
    s.orders_done = std::max(s.orders_done, f->orders_done);
    // Who has followed until now knows that it is news; after a start it may be a year old.
    if (std::exchange(s.followed, false)) {
        s.watch.succeed(f->now, f->outputs, net::clock::now());
        s.fingerprint = f->now.fingerprint;
    } else if (!s.taken_up) {
        s.watch.restore(f->now.state, f->now.why, f->now.detail);
    }
    s.taken_up = true;
}

net::task<void> keeper::follow(seat& s) {
    if (s.suspected) co_await tell_suspicion(s);
    const cache::record_result there = co_await around_.in.read_record(replica_name(pool_.name, s.replica.id));
    if (there.status != cache::record_status::ok) co_return;
    auto f = decode_finding(there.value);
    if (!f) co_return;
    const bool news = !s.found || s.found->outputs != f->outputs || s.found->now.environment != f->now.environment;
    s.found = std::move(f);
    s.followed = true;
    // What was found before our own suspicion says nothing about it.
    if (s.found->checked >= s.suspected_at) show(s, s.found->now);
    if (news) unsettled_.notify();
}

net::task<void> keeper::tell_suspicion(seat& s) {
    s.suspected = false;
    (void)co_await order(s.index, wish::what::suspect);
}

net::task<bool> keeper::order(std::size_t replica, wish::what what) {
    seat& s = *std::next(seats_.begin(), static_cast<std::ptrdiff_t>(replica));
    const std::string name = order_name(pool_.name, s.replica.id);
    for (int attempt = 0; attempt < 5; ++attempt) {
        const cache::record_result there = co_await around_.in.read_record(name);
        if (there.status == cache::record_status::failed) co_return false;
        const auto before = decode_wish(there.value);
        const wish next{what, std::max(before ? before->number : 0, s.orders_done) + 1};
        const std::uint64_t expected = there.status == cache::record_status::ok ? there.version : 0;
        const cache::record_result put = co_await around_.in.write_record(name, encode(next), expected);
        if (put.status == cache::record_status::failed) co_return false;
        if (put.status == cache::record_status::ok) {
            s.wake->notify();
            co_return true;
        }
    }
    co_return false;
}

net::task<void> keeper::obey(seat& s) {
    const net::time_point now = net::clock::now();
    const auto epoch = around_.epochs.get(index_);
    s.watch.epoch(epoch ? std::optional(epoch->environment) : std::nullopt, now, epoch ? epoch->id : id128{});
    if (std::exchange(s.suspected, false)) s.watch.suspected(now);
    const cache::record_result there = co_await around_.in.read_record(order_name(pool_.name, s.replica.id));
    if (there.status != cache::record_status::ok) co_return;
    const auto w = decode_wish(there.value);
    if (!w || w->number <= s.orders_done) co_return;
    s.orders_done = w->number;
    observe::log(observe::level::info, "replica_order",
                 "upstream " + pool_.name + " replica " + s.replica.id + ": " + std::string(to_string(w->is)));
    switch (w->is) {
        case wish::what::quarantine:
            s.watch.obey(replica_watch::order::quarantine, now);
            break;
        case wish::what::drain:
            s.watch.obey(replica_watch::order::drain, now);
            break;
        case wish::what::readmit:
            s.watch.obey(replica_watch::order::readmit, now);
            break;
        case wish::what::record:
            s.records = true;
            [[fallthrough]];
        case wish::what::attest:
            s.watch.obey(replica_watch::order::attest, now);
            break;
        case wish::what::suspect:
            s.watch.suspected(now);
            break;
        case wish::what::diverged:
            s.watch.diverged(may_quarantine(s));
            break;
    }
    co_await publish(s);
}

net::task<void> keeper::work(seat& s) {
    for (;;) {
        const net::time_point now = net::clock::now();
        const replica_watch::action due = s.watch.next(now);
        switch (due.what) {
            case replica_watch::step::wait:
                co_await publish(s);
                co_return;
            case replica_watch::step::check_health: {
                const bool slowly = !engine_.probes.slow_health.empty() && now >= s.slow_health_due;
                if (slowly) s.slow_health_due = now + std::max(seldom, net::duration(pool_.admission.health_interval));
                states_.looked(s.index, now);
                const auto h = co_await s.ask.check_health(slowly, slowly ? slow_patience : health_patience());
                heard(s, h);
                break;
            }
            case replica_watch::step::read_facts: {
                auto r = co_await s.ask.read_facts();
                if (r.facts) {
                    const determinism::requirements by{pool_.environment.lock, pool_.environment.declared};
                    const auto known = determinism::completed(std::move(*r.facts), by, upstream::engine::numeric_facts);
                    s.watch.facts(known, determinism::violations(known, by), net::clock::now());
                    if (!first_read_) first_read_ = net::clock::now();
                    unsettled_.notify();
                } else {
                    s.watch.facts_unread(std::move(r.detail), net::clock::now());
                }
                break;
            }
            case replica_watch::step::attest: {
                co_await publish(s);
                s.attesting = true;
                attestation a = co_await attest(s, due.thorough);
                s.attesting = false;
                const bool steady = a.what == attestation::result::steady;
                if (steady && std::exchange(s.records, false)) co_await set_reference(a, "operator");
                s.watch.attested(std::move(a), reference_for(s), prompts_, may_quarantine(s), net::clock::now());
                unsettled_.notify();
                break;
            }
        }
        co_await publish(s);
    }
}

bool keeper::may_quarantine(const seat& s) const {
    std::size_t out = 1;
    for (const seat& other : seats_) {
        if (&other == &s) continue;
        const condition c = states_.get(other.index);
        out += c.state == replica_state::quarantined && c.why != cause::operator_order;
    }
    return out * 100 <= seats_.size() * pool_.admission.most_quarantined;
}

void keeper::show(seat& s, condition c) {
    const condition before = states_.get(s.index);
    if (before.state != c.state || before.why != c.why) {
        const bool good = c.state == replica_state::admitted && !c.diverging;
        const bool normal = good || c.state == replica_state::probing || c.why == cause::operator_order;
        observe::log(normal ? observe::level::info : observe::level::warning, "replica_state",
                     "upstream " + pool_.name + " replica " + s.replica.id + ": " +
                         std::string(determinism::to_string(before.state)) + " -> " +
                         std::string(determinism::to_string(c.state)) + " (" +
                         std::string(determinism::to_string(c.why)) + (c.detail.empty() ? "" : ": " + c.detail) + ")");
    }
    states_.set(s.index, std::move(c));
}

finding keeper::finding_of(const seat& s) const {
    finding f;
    condition& c = f.now;
    c.state = s.watch.state();
    c.why = s.watch.why();
    c.detail = s.watch.detail();
    c.runs = s.watch.runs();
    c.diverging = s.watch.diverging();
    c.fingerprint = s.fingerprint;
    const condition before = states_.get(s.index);
    c.since = before.state == c.state && before.since != 0 ? before.since : unix_ms();
    if (s.watch.read()) {
        c.environment = s.watch.read()->id();
        c.facts = before.facts && *before.facts == *s.watch.read()
                      ? before.facts
                      : std::make_shared<const determinism::environment>(*s.watch.read());
    }
    if (s.watch.attested()) f.outputs = s.watch.attested()->outputs;
    f.orders_done = s.orders_done;
    return f;
}

// To the roster, and for the others into the record; there only what is news, and a sign of life now and then.
net::task<void> keeper::publish(seat& s) {
    finding f = finding_of(s);
    show(s, f.now);
    const std::string news = encode(f);
    const net::time_point now = net::clock::now();
    if (news == s.written && (!around_.shared || now < s.written_at + refresh)) co_return;
    f.checked = unix_ms();
    const cache::record_result put =
        co_await around_.in.write_record(replica_name(pool_.name, s.replica.id), encode(f), s.version);
    if (put.status == cache::record_status::ok) {
        s.version = put.version;
        s.written = news;
        s.written_at = now;
    } else if (put.status == cache::record_status::conflict) {
        s.version = put.version;  // whoever watched before us was late; ours is the newer one
    }
}

}  // namespace idem::gateway::replicas
