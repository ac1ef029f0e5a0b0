#include "gateway/app/gauges.hpp"

#include <limits>

#include "gateway/app/runtime.hpp"

namespace idem::gateway::app {

namespace {

template <class Read>
void tier_gauges(observe::metrics& m, const std::string& tier, Read read) {
    const std::string label = "tier=\"" + tier + "\"";
    m.provide("idem_entries", "Entries that a tier holds.", "gauge", label,
              [read] { return static_cast<double>(read().entries); });
    m.provide("idem_bytes", "Bytes that a tier's entries are charged with.", "gauge", label,
              [read] { return static_cast<double>(read().bytes); });
    m.provide("idem_capacity_bytes", "Bytes that a tier may hold.", "gauge", label,
              [read] { return static_cast<double>(read().capacity); });
    m.provide("idem_evictions_total", "Entries given up for room.", "counter", label,
              [read] { return static_cast<double>(read().evictions); });
}

void slot_gauges(observe::metrics& m, const std::string& upstream, const upstream::route::slots* of) {
    const std::string label = "upstream=\"" + upstream + "\"";
    m.provide("idem_upstream_in_flight", "Calls that replicas work on, or may still work on after they were given up.",
              "gauge", label, [of] { return static_cast<double>(of->in_flight()); });
    m.provide("idem_upstream_waiting", "Calls that wait for a replica.", "gauge", label,
              [of] { return static_cast<double>(of->waiting()); });
    m.provide("idem_upstream_lease_lapses_total",
              "Times that calls went on although another gateway may have used their replica.", "counter", label,
              [of] { return static_cast<double>(of->lapses()); });
    m.provide("idem_upstream_unconfirmed_aborts_total",
              "Calls that were given up and of which no engine said that they had ended.", "counter", label,
              [of] { return static_cast<double>(of->doubts()); });
}

void replica_gauges(observe::metrics& m, const pipeline::upstream_plan& u,
                    const upstream::determinism::roster& states) {
    using upstream::determinism::replica_state;
    for (std::size_t i = 0; i < states.size(); ++i) {
        for (std::size_t n = 0; n < upstream::determinism::replica_states; ++n) {
            const auto state = static_cast<replica_state>(n);
            const std::string labels = "upstream=\"" + u.settings->name + "\",replica=\"" + u.settings->replicas[i].id +
                                       "\",state=\"" + std::string(to_string(state)) + "\"";
            m.provide("idem_replica_state", "1 for the state that a replica is in.", "gauge", labels,
                      [&states, i, state] { return states.get(i).state == state ? 1.0 : 0.0; });
            m.provide("idem_replica_transitions_total", "How often a replica came into a state.", "counter", labels,
                      [&states, i, state] { return static_cast<double>(states.transitions(i, state)); });
        }
    }
}

void shadow_gauges(observe::metrics& m, const pipeline::plan& plan, const shadow::runner* of) {
    using upstream::determinism::shadow_result;
    for (std::size_t i = 0; i < upstream::determinism::shadow_results; ++i) {
        const auto result = static_cast<shadow_result>(i);
        m.provide(
            "idem_shadow_runs_total",
            "Answered requests that were run again, by what came of it; of all gateways on one store, since ever.",
            "counter", "result=\"" + std::string(to_string(result)) + "\"",
            [of, result] { return static_cast<double>(of->total(result)); });
    }
    for (const pipeline::upstream_plan& u : plan.upstreams()) {
        for (const config::replica& r : u.settings->replicas) {
            m.provide(
                "idem_determinism_score",
                "Share of a replica's shadow runs that gave the same answer where that was guaranteed; NaN before "
                "the first.",
                "gauge", "upstream=\"" + u.settings->name + "\",replica=\"" + r.id + "\"",
                [of, i = u.index, id = r.id] {
                    return of->score(i, id).value_or(std::numeric_limits<double>::quiet_NaN());
                });
        }
    }
}

void receipt_gauges(observe::metrics& m, const receipts::book* book) {
    const auto counter = [&](std::string_view name, std::string_view help, std::string_view labels, auto member) {
        m.provide(name, help, "counter", labels,
                  [book, member] { return static_cast<double>(book->counters().*member); });
    };
    using receipts::book_counters;
    counter("idem_receipts_issued_total", "Receipts that were signed and kept.", "", &book_counters::issued);
    counter("idem_receipts_served_total", "Records of answers given, in the chain.", "", &book_counters::served);
    counter("idem_receipts_lost_total", "Receipts and records lost to a full queue or disk; the chain says so.", "",
            &book_counters::lost);
    counter("idem_receipts_heads_total", "Signed heads of the chain for the second sink.", "result=\"taken\"",
            &book_counters::heads);
    counter("idem_receipts_heads_total", "Signed heads of the chain for the second sink.", "result=\"failed\"",
            &book_counters::heads_failed);
}

template <class Read>
void connection_gauge(observe::metrics& m, runtime* of, std::string_view labels, Read read) {
    m.provide("idem_connections", "Open connections.", "gauge", labels, [of, read] {
        double n = 0;
        for (const auto& w : of->workers()) n += static_cast<double>(read(*w));
        return n;
    });
}

}  // namespace

void provide_gauges(runtime& of) {
    observe::metrics& m = of.metrics();
    pipeline::shared& shared = of.shared();
    tier_gauges(m, "memory", [&shared] { return shared.memory.stats(); });
    if (shared.second) {
        const std::string name(shared.second->name());
        tier_gauges(m, name, [&shared] { return shared.second->stats(); });
        m.provide("idem_store_healthy", "1 while the second tier works.", "gauge", "tier=\"" + name + "\"",
                  [&shared] { return shared.second->stats().healthy ? 1.0 : 0.0; });
    }
    const std::vector<config::upstream_pool>& upstreams = of.settings().upstreams;
    for (std::size_t i = 0; i < upstreams.size(); ++i) {
        slot_gauges(m, upstreams[i].name, &shared.health[i]->slots);
        for (std::size_t r = 0; r < pipeline::refusals.size(); ++r) {
            const std::atomic<std::uint64_t>* count = &shared.health[i]->refused[r];
            m.provide("idem_upstream_refused_total", "Calls refused before they reached a replica, by reason.",
                      "counter",
                      "upstream=\"" + upstreams[i].name + "\",reason=\"" +
                          std::string(to_string(pipeline::refusals[r])) + "\"",
                      [count] { return static_cast<double>(count->load(std::memory_order_relaxed)); });
        }
        m.provide("idem_epoch_unreadable", "1 while the store's record of an upstream's epoch is damaged or newer.",
                  "gauge", "upstream=\"" + upstreams[i].name + "\"",
                  [&shared, i] { return shared.epochs.trouble(i) == reason::entry_unreadable ? 1.0 : 0.0; });
    }
    for (const pipeline::upstream_plan& u : shared.plan.upstreams()) {
        if (u.watched) replica_gauges(m, u, shared.health[u.index]->roster);
    }
    shadow_gauges(m, shared.plan, &of.shadow());
    if (shared.receipts) receipt_gauges(m, shared.receipts);
    runtime* self = &of;
    connection_gauge(m, self, "side=\"client\",state=\"open\"", [](const worker& w) { return w.connections().open; });
    connection_gauge(m, self, "side=\"upstream\",state=\"idle\"", [](const worker& w) { return w.idle_upstream(); });
    m.provide("idem_connections_refused_total", "Connections refused at the cap.", "counter", "", [self] {
        double n = 0;
        for (const auto& w : self->workers()) n += static_cast<double>(w->connections().refused);
        return n;
    });
    m.provide("idem_flights", "Fills that callers can join.", "gauge", "",
              [&shared] { return static_cast<double>(shared.flights.size()); });
    m.provide("idem_flight_followers", "Callers that follow a fill.", "gauge", "",
              [&shared] { return static_cast<double>(shared.flights.followers()); });
    m.provide("idem_access_log_dropped_total", "Lines dropped because standard output was blocked.", "counter", "",
              [&shared] { return static_cast<double>(shared.access.dropped()); });
    m.provide("idem_request_body_bytes", "Bytes of request bodies held for their keys.", "gauge", "",
              [&shared] { return static_cast<double>(shared.bodies.used()); });
    m.provide("idem_draining", "1 after SIGTERM.", "gauge", "", [self] { return self->draining() ? 1.0 : 0.0; });
}

}  // namespace idem::gateway::app
