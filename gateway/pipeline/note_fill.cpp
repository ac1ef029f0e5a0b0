#include "gateway/pipeline/note_fill.hpp"

namespace idem::gateway::pipeline {

namespace {

constexpr std::size_t most_notes = 1024;  // of one thread at once

struct counted {
    std::size_t& running;
    explicit counted(std::size_t& n) noexcept : running(++n) {}
    ~counted() { --running; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
};

net::task<void> write_down(services& at, cache::ledger_record fill) {
    const counted one(at.notes);
    const std::string upstream = fill.upstream;
    const cache::noted result = co_await at.common.second->note(std::move(fill));
    at.common.metrics.ledger(at.thread, result.written ? "written" : "failed");
    if (!result.written) at.common.metrics.store_error(at.thread, at.common.second->name(), "ledger", result.why);
    at.common.metrics.output_changed(at.thread, upstream, result.with_before);
}

}  // namespace

cache::ledger_record ledger_record_of(const asked& order, const cache::entry& answer) {
    cache::ledger_record r;
    r.request = order.request;
    r.upstream = order.route->upstream->settings->name;
    r.epoch = order.epoch.id;
    r.output = answer.output;
    r.environment = answer.environment;
    r.promise = answer.promise;
    // What a policy enforces is greedy or has a seed, whatever the client wrote.
    r.sampled = !order.route->policy->settings->enforces() && !order.call.greedy && !order.call.seeded;
    r.first = r.last = answer.created;
    return r;
}

void note_fill(services& at, const asked& order, const cache::entry& answer) {
    if (!at.common.second || !at.common.second->keeps_ledger()) return;
    if (at.ending || at.notes >= most_notes) return at.common.metrics.ledger(at.thread, "dropped");
    at.settling.spawn(write_down(at, ledger_record_of(order, answer)));
}

}  // namespace idem::gateway::pipeline
