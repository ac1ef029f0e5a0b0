#include "gateway/pipeline/fill.hpp"

#include "gateway/pipeline/again.hpp"
#include "gateway/pipeline/ask.hpp"
#include "gateway/pipeline/ask_items.hpp"
#include "gateway/pipeline/keep.hpp"
#include "gateway/pipeline/reply.hpp"

namespace idem::gateway::pipeline {

using cache::conclusion;
using cache::flight;

namespace {

/// Whatever ends the fill's task, an exception or a cancellation at shutdown too: the flight leaves the table and
/// concludes, so that nobody waits for it for ever.
class conclude_anyway {
public:
    conclude_anyway(services& at, std::shared_ptr<flight> into, const fill_order& order)
        : at_(at), into_(std::move(into)), key_(order.key), shared_(order.shared) {}
    ~conclude_anyway() {
        conclusion end;
        end.why = told(at_, reason::internal_error);
        end.error_status = status_of(end.why);
        conclude(std::move(end));
    }
    conclude_anyway(const conclude_anyway&) = delete;
    conclude_anyway& operator=(const conclude_anyway&) = delete;
    /// Out of the table first: whoever comes now finds the entry in the memory tier, or starts anew.
    void conclude(conclusion end) {
        if (std::exchange(done_, true)) return;
        if (shared_) at_.common.flights.remove(key_, *into_);
        into_->finish(std::move(end));
    }

private:
    services& at_;
    std::shared_ptr<flight> into_;
    const cache::cache_key key_;
    const bool shared_;
    bool done_ = false;
};

}  // namespace

net::task<void> run_fill(services& at, std::shared_ptr<flight> into, std::unique_ptr<fill_order> order) {
    conclude_anyway flight_ends(at, into, *order);
    if (order->items) {
        conclusion end = co_await answer_items(at, into, *order);
        flight_ends.conclude(std::move(end));
        co_return;
    }
    looked_up found;
    if (order->look_up) found = co_await look_up(at, *into, *order);
    conclusion end;
    if (found.entry) {
        end.from = conclusion::source::found;
        end.tier = found.tier;
        end.clean = true;
        end.stored = true;
        end.answer = std::move(found.entry);
    } else if (found.refuse_all) {
        end.why = found.why;
        end.error_status = status_of(end.why);
    } else if (into->abandoned() && !order->route->policy->settings->finish_abandoned) {
        end.why = reason::fill_cancelled;
    } else {
        end = co_await ask_upstream(at, *into, *into, *order);
        co_await store_answer(at, *into, *order, found, end);
    }
    const conclusion known = end;
    flight_ends.conclude(std::move(end));
    leave_fill(at, std::move(order), known);
}

}  // namespace idem::gateway::pipeline
