#include "gateway/shadow/runner.hpp"

#include <simdjson.h>
#include <algorithm>
#include <boost/json.hpp>

#include "gateway/observe/log.hpp"
#include "gateway/pipeline/note_fill.hpp"
#include "gateway/pipeline/second_tier.hpp"
#include "gateway/shadow/account.hpp"
#include "gateway/shadow/record.hpp"
#include "upstream/determinism/compare/divergence.hpp"

namespace idem::gateway::shadow {

using determinism::contrast;
using determinism::observation;
using determinism::shadow_book;
using determinism::shadow_divergence;
using determinism::shadow_result;
using namespace std::chrono_literals;

namespace {

/// A job that has waited for so long is forgotten, and with it the credential that it may hold.
constexpr net::duration oldest = 60s;
/// How long a run waits for its replica.
constexpr net::duration patience = 10s;
constexpr net::duration write_interval = 1s;
constexpr net::duration read_interval = 5s;
constexpr net::duration farewell = 2s;

bool valid(std::string_view text) {
    return simdjson::validate_utf8(text.data(), text.size());
}

// Where no policy has a shadow only what callers had computed anew is compared, and that may wait.
net::duration look_of(const config::configuration& c, const config::upstream_pool& pool) {
    const bool often = std::ranges::any_of(c.routes, [&](const config::route& r) { return r.upstream == pool.name; }) &&
                       std::ranges::any_of(c.policies, [](const config::policy& p) { return p.shadow.rate > 0; });
    return often ? net::duration(100ms) : net::duration(1s);
}

std::optional<std::size_t> index_of(const config::upstream_pool& pool, std::string_view replica) {
    const auto at = std::ranges::find(pool.replicas, replica, &config::replica::id);
    if (at == pool.replicas.end()) return std::nullopt;
    return static_cast<std::size_t>(at - pool.replicas.begin());
}

// At most so many bytes, cut at a character.
std::string begin_of(std::string_view text, std::size_t most) {
    if (text.size() > most) {
        while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) --most;
        text = text.substr(0, most);
    }
    return valid(text) ? std::string(text) : std::string();
}

// Who may be asked, by what is known of each now.
struct asked_of {
    std::shared_ptr<const std::vector<determinism::standing>> standings;
    std::vector<upstream::route::replica_class> health;
};
asked_of replicas_of(const pipeline::upstream_health& of) {
    asked_of out{of.roster.standings(), {}};
    of.replicas.mark(out.health, net::clock::now());
    return out;
}

}  // namespace

// One upstream.
struct runner::seat {
    seat(std::size_t i, const config::upstream_pool& p, net::duration every) : index(i), pool(p), look_every(every) {}
    const std::size_t index;
    const config::upstream_pool& pool;
    const net::duration look_every;  // at the desk
    std::size_t turn = 0;
    account book;
    net::time_point read_at{};
};

runner::runner(net::executor on, pipeline::shared& common, desk& from, quarantine_order quarantine)
    : on_(on),
      common_(common),
      from_(from),
      quarantine_(std::move(quarantine)),
      connections_(on),
      tasks_(on, observe::log_escape),
      writer_(on, observe::log_escape),
      stop_(on),
      at_{common, common.threads, on, connections_, tasks_, tasks_} {
    for (const pipeline::upstream_plan& u : common_.plan.upstreams())
        seats_.push_back(std::make_unique<seat>(u.index, *u.settings, look_of(common_.plan.settings(), *u.settings)));
}

runner::~runner() = default;

void runner::start() {
    for (auto& s : seats_) tasks_.spawn(work(*s));
    writer_.spawn(write_for_ever());
}

net::task<void> runner::end() {
    from_.close();
    at_.ending = true;
    tasks_.cancel();
    connections_.drain();
    const bool all = co_await tasks_.join(net::clock::now() + farewell);
    if (!all) observe::log(observe::level::warning, "shadow", "a run did not end in time");
    // Not cancelled: whoever is cut off while writing does not know whether it is written.
    stop_.notify();
    const bool written = co_await writer_.join(net::clock::now() + farewell);
    if (!written) co_return;
    for (auto& s : seats_) {
        for (int tries = 3; tries > 0 && s->book.changed(); --tries) {
            const bool overtaken = co_await write(*s);
            if (!overtaken) break;
        }
    }
}

net::task<void> runner::work(seat& s) {
    net::timer pause(on_);
    for (;;) {
        std::optional<job> next = from_.take(s.index);
        take_dropped(s);
        if (!next) {
            pause.expires_after(s.look_every);
            auto [ec] = co_await pause.async_wait(net::use_task);
            if (ec) co_return;
            continue;
        }
        co_await perform(s, std::move(*next));
    }
}

void runner::take_dropped(seat& s) {
    for (std::uint64_t n = from_.dropped(s.index); n > 0; --n) s.book.count(shadow_result::skipped, {});
}

// Whether callers still get it. What was deleted is not told to anybody again, and what has run out does not matter.
net::task<bool> runner::kept(const job& j) const {
    const cache::unix_ms now = pipeline::unix_ms_now();
    const cache::entry_ptr held = common_.memory.find(j.stored->key, now);
    if (held) co_return held->fill == j.stored->fill;
    if (!common_.second) co_return false;
    const pipeline::checked_lookup looked = co_await pipeline::find_stored(common_, j.stored->key, now);
    co_return looked.got.status == cache::lookup_status::found&& looked.got.value->fill == j.stored->fill;
}

determinism::shadow_wish runner::wish_of(const job& j, std::size_t turn) const {
    const pipeline::fill_order& order = *j.order;
    determinism::shadow_wish w;
    w.origin = index_of(*order.route->upstream->settings, j.stored->replica);
    w.environment = j.stored->environment;
    w.wants = order.route->policy->demands;
    w.epoch = order.epoch.environment;
    w.same = order.route->policy->settings->shadow.targets_are("same");
    w.sibling = order.route->policy->settings->shadow.targets_are("sibling");
    w.turn = turn;
    return w;
}

net::task<void> runner::perform(seat& s, job j) {
    const bool there = co_await kept(j);
    if (!there) co_return s.book.count(shadow_result::skipped, {});
    const pipeline::fill_order& order = *j.order;
    const observation stored = pipeline::ledger_record_of(order, *j.stored).seen();
    const determinism::shadow_wish wish = wish_of(j, s.turn++);
    std::optional<std::size_t> replica;
    ran again;
    if (j.again) {  // a caller has had it computed: nothing need be asked
        replica = index_of(s.pool, j.again->replica);
        again.what = ran::end::answered;
        again.seen = pipeline::ledger_record_of(order, *j.again).seen();
    } else {
        const auto epoch = common_.epochs.get(s.index);
        const bool late = net::clock::now() - j.taken > oldest || !epoch || epoch->id != order.epoch.id;
        if (!late) {
            const asked_of known = replicas_of(*common_.health[s.index]);
            replica = determinism::shadow_target(wish, *known.standings, known.health);
        }
        again.what = ran::end::put_off;
        if (replica) again = co_await run_once(at_, order, *replica, stored.sampled, net::clock::now() + patience);
    }
    const std::string name = replica ? s.pool.replicas[*replica].id : std::string();
    if (again.what != ran::end::answered)
        co_return s.book.count(again.what == ran::end::failed ? shadow_result::failed : shadow_result::skipped, name);
    const contrast c = determinism::contrast_of(stored, again.seen);
    s.book.count(determinism::result_of(c), name);
    if (c == contrast::divergence && replica) co_await diverged(s, j, stored, std::move(again), *replica, wish);
}

// Once more where it differed, and once elsewhere: two of three decide.
net::task<void> runner::diverged(seat& s, job& j, observation stored, ran again, std::size_t replica,
                                 determinism::shadow_wish wish) {
    const pipeline::fill_order& order = *j.order;
    determinism::shadow_trials trials{stored.output, again.seen.output, replica == wish.origin, {}, {}};
    // A caller's own refresh is no leave to ask more of the upstream.
    const bool may_ask = order.route->policy->settings->shadow.rate > 0;
    std::optional<std::size_t> other;
    if (may_ask) {
        const asked_of known = replicas_of(*common_.health[s.index]);
        other = determinism::shadow_sibling(wish, *known.standings, known.health, replica);
        ran twice = co_await run_once(at_, order, replica, stored.sampled, net::clock::now() + patience);
        if (twice.what == ran::end::answered) trials.twice = twice.seen.output;
    }
    // Where a sibling differed the replica of the stored answer is the other one.
    if (may_ask && !trials.same_replica) other = wish.origin;
    if (other) {
        ran elsewhere = co_await run_once(at_, order, *other, stored.sampled, net::clock::now() + patience);
        if (elsewhere.what == ran::end::answered) trials.other = elsewhere.seen.output;
    }
    const determinism::shadow_finding found = determinism::find_blame(trials);
    const bool there = co_await kept(j);

    shadow_divergence d;
    d.at = pipeline::unix_ms_now();
    d.request = order.request;
    d.key = j.stored->key.value;
    d.stored = stored.output;
    d.again = again.seen.output;
    d.environment = stored.environment;
    d.environment_again = again.seen.environment;
    d.epoch = order.epoch.id;
    d.model = begin_of(j.stored->model, 256);
    d.dialect = order.api->name();
    d.policy = order.route->policy->settings->name;
    d.replica = j.stored->replica;
    d.replica_again = s.pool.replicas[replica].id;
    const auto normal = order.api->normalised(j.stored->form, j.stored->body);
    if (j.again) again.output = order.api->normalised(j.again->form, j.again->body).value_or("");
    if (const auto parts = determinism::part_of(normal.value_or(""), again.output)) {
        d.byte = parts->byte;
        d.character = parts->character;
        d.token = parts->token;
        // Nothing of an answer outlives its entry.
        if (s.pool.divergence_excerpts && there && valid(parts->before) && valid(parts->a) && valid(parts->b)) {
            d.before = parts->before;
            d.stored_text = parts->a;
            d.again_text = parts->b;
        }
    }
    d.cause = found.what;
    if (found.what == determinism::blame::flip || found.what == determinism::blame::replica)
        d.blamed = found.at_origin ? d.replica : d.replica_again;
    observe::log(observe::level::warning, "divergence",
                 "upstream " + s.pool.name + " replica " + d.replica_again +
                     " gave another answer than the stored one of " + d.replica + ": " +
                     std::string(to_string(found.what)) + (d.blamed.empty() ? "" : " of " + d.blamed) + ", key " +
                     to_hex(d.key.bytes));
    const std::string blamed = d.blamed;
    s.book.add(std::move(d));

    const std::int64_t had = s.book.score_of(blamed).counted;
    const auto at = index_of(s.pool, blamed);
    if (!at || s.pool.quarantine_after == 0 || had < static_cast<std::int64_t>(s.pool.quarantine_after)) co_return;
    const bool ordered = co_await quarantine_(s.index, *at);
    if (ordered) s.book.settle(blamed, had);
}

net::task<void> runner::write_for_ever() {
    for (auto& s : seats_) (void)co_await write(*s);  // reads what an earlier life has counted
    while (!at_.ending) {
        const bool stopped = co_await stop_.wait(net::clock::now() + write_interval);
        if (stopped) co_return;
        for (auto& s : seats_) {
            from_.forget(s->index, net::clock::now() - oldest);
            take_dropped(*s);
            if (s->book.changed() || net::clock::now() - s->read_at > read_interval) (void)co_await write(*s);
        }
    }
}

// Reads what is written, and puts on top of it what was counted since.
net::task<bool> runner::write(seat& s) {
    const std::string name = record_name(s.pool.name);
    const cache::record_result there = co_await common_.coordination.read_record(name);
    if (there.status == cache::record_status::failed) co_return false;
    s.read_at = net::clock::now();
    s.book.read(there.value);
    if (!s.book.changed()) co_return false;
    const std::uint64_t expected = there.status == cache::record_status::ok ? there.version : 0;
    std::string text = s.book.begin();
    const cache::record_result put = co_await common_.coordination.write_record(name, std::move(text), expected);
    switch (put.status) {
        case cache::record_status::ok:
            s.book.end(account::outcome::written);
            break;
        case cache::record_status::conflict:
            s.book.end(account::outcome::overtaken);
            co_return true;
        default:
            s.book.end(account::outcome::unknown);
            break;
    }
    co_return false;
}

std::uint64_t runner::total(shadow_result r) const {
    std::uint64_t sum = 0;
    for (const auto& s : seats_) sum += s->book.total(r);
    return sum;
}

std::optional<double> runner::score(std::size_t upstream, std::string_view replica) const {
    return seats_[upstream]->book.score_of(replica).share();
}

boost::json::object runner::divergences() const {
    namespace json = boost::json;
    json::array list, upstreams;
    for (const auto& s : seats_) {
        const shadow_book b = s->book.all();
        json::object of{{"name", s->pool.name}};
        for (auto& [name, value] : summary(b)) of[name] = value;
        upstreams.push_back(std::move(of));
        for (auto d = b.divergences.rbegin(); d != b.divergences.rend(); ++d) {
            json::object o{{"upstream", s->pool.name}};
            for (auto& [name, value] : shown(*d)) o[name] = value;
            list.push_back(std::move(o));
        }
    }
    return {{"divergences", std::move(list)}, {"upstreams", std::move(upstreams)}};
}

}  // namespace idem::gateway::shadow
