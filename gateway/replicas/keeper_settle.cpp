// What concerns all replicas of an upstream: the environment of its epochs, and the golden reference.
#include <algorithm>

#include "gateway/observe/log.hpp"
#include "gateway/replicas/keeper_seat.hpp"

namespace idem::gateway::replicas {

using determinism::attestation;

namespace {

/// How long the first epoch waits for replicas that have not been read, once one has.
constexpr net::duration patience = std::chrono::seconds(5);

}  // namespace

const determinism::reference* keeper::reference() const {
    const auto epoch = around_.epochs.get(index_);
    if (!reference_ || !epoch || reference_->epoch != epoch->id) return nullptr;
    if (reference_->prompts != determinism::prompts_digest(prompts_, model_)) return nullptr;
    return &*reference_;
}

// A replica in another environment than the epoch's is out for that, and its outputs say nothing.
const determinism::reference* keeper::reference_for(const seat& s) const {
    const auto epoch = around_.epochs.get(index_);
    return epoch && s.environment() == epoch->environment ? reference() : nullptr;
}

void keeper::judge_all() {
    for (seat& s : seats_) {
        const determinism::reference* with = reference_for(s);
        if (!with || !s.watching || !s.watch.attested()) continue;
        s.watch.judge(*with, prompts_, may_quarantine(s));
        s.wake->notify();
    }
}

net::task<void> keeper::read_reference() {
    const cache::record_result there = co_await around_.in.read_record(reference_name(pool_.name));
    if (there.status != cache::record_status::ok) co_return;
    auto r = decode_reference(there.value);
    if (!r || reference_ == r) co_return;
    reference_ = std::move(r);
    judge_all();
}

net::task<void> keeper::set_reference(determinism::attestation from, std::string by) {
    const auto epoch = around_.epochs.get(index_);
    if (!epoch) co_return;
    const determinism::reference made{epoch->id, determinism::prompts_digest(prompts_, model_), std::move(from.outputs),
                                      by, std::move(from.fingerprint)};
    const std::string name = reference_name(pool_.name);
    const cache::record_result there = co_await around_.in.read_record(name);
    const auto standing = decode_reference(there.value);
    const bool taken = standing && standing->epoch == made.epoch && standing->prompts == made.prompts;
    if (taken && by != "operator") co_return co_await read_reference();
    const std::uint64_t expected = there.status == cache::record_status::ok ? there.version : 0;
    const cache::record_result put = co_await around_.in.write_record(name, encode(made), expected);
    if (put.status == cache::record_status::conflict) co_return co_await read_reference();
    reference_ = made;
    observe::log(observe::level::info, "reference_set", "upstream " + pool_.name + ": by " + by);
    judge_all();
}

std::vector<determinism::ballot> keeper::votes() const {
    std::vector<determinism::ballot> out;
    for (const seat& s : seats_) out.push_back(s.vote());
    return out;
}

std::optional<digest> keeper::majority_environment() const {
    return determinism::majority_environment(votes());
}

std::optional<digest> keeper::environment_of(std::size_t replica) const {
    return std::next(seats_.begin(), static_cast<std::ptrdiff_t>(replica))->environment();
}

net::task<void> keeper::settle_for_ever() {
    for (;;) {
        co_await settle();
        co_await unsettled_.wait(net::clock::now() + tick_);
    }
}

// Without a majority the others are quarantined, and an operator is told.
void keeper::propose_first() {
    const bool all = std::ranges::all_of(seats_, [](const seat& s) { return s.environment().has_value(); });
    const bool waited = first_read_ && net::clock::now() >= *first_read_ + patience;
    if (!all && !waited) return;
    if (const auto first = determinism::first_environment(votes())) around_.propose(*first);
}

// Whether a new epoch was opened because most replicas have moved.
net::task<bool> keeper::follow_environment(const cache::epoch_record& epoch) {
    const net::time_point now = net::clock::now();
    const auto before = std::exchange(settled_, epoch.id);
    if (before && before != epoch.id) {
        pace_.opened(now);
        held_back_ = false;
    }
    digest environment = majority_environment().value_or(epoch.environment);
    const bool by_print = environment == epoch.environment;
    const auto moved = std::ranges::count_if(
        seats_, [&](const seat& s) { return by_print ? s.moved(epoch.environment) : s.environment() == environment; });
    const bool by_itself = pool_.environment.on_change == config::environment_rules::change::new_epoch ||
                           epoch.environment == determinism::unwatched_environment();
    if (!by_itself || static_cast<std::size_t>(moved) * 2 <= seats_.size()) co_return false;
    if (pace_.may_open(now)) {
        co_return co_await around_.open_epoch(environment, by_print
                                                               ? "most of its replicas answer with another fingerprint"
                                                               : "most of its replicas have another environment");
    }
    if (!std::exchange(held_back_, true)) {
        const auto wait = std::chrono::ceil<std::chrono::seconds>(pace_.next() - now);
        observe::log(observe::level::warning, "epoch_held_back",
                     "upstream " + pool_.name + ": its environment changes often; no new epoch is opened in the next " +
                         std::to_string(wait.count()) + " s");
    }
    co_return false;
}

// Those in another environment have no say. Neither have those that have given no outputs for a while, be it that they
// do not answer, or never the same: what one replica alone would be trusted with has to do then.
const attestation* keeper::elect(const cache::epoch_record& epoch, std::vector<attestation>& given) {
    std::size_t others = 0;
    for (const seat& s : seats_) {
        const auto environment = s.environment();
        if (environment && *environment != epoch.environment) continue;
        auto from = environment ? s.given() : std::nullopt;
        if (from)
            given.push_back(std::move(*from));
        else
            ++others;
    }
    const net::time_point now = net::clock::now();
    if (given.empty()) {
        first_given_.reset();
        return nullptr;
    }
    if (!first_given_) first_given_ = now;
    if (now >= *first_given_ + pool_.admission.patience) others = 0;
    std::vector<const attestation*> views;
    for (const attestation& a : given) views.push_back(&a);
    return determinism::majority(views, given.size() + others);
}

net::task<void> keeper::settle() {
    const auto epoch = around_.epochs.get(index_);
    if (!epoch) co_return propose_first();
    const bool opened = co_await follow_environment(*epoch);
    if (opened) co_return;
    co_await read_reference();
    // Who has run no golden prompt does not know what the others' outputs answer.
    if (!model_known_) co_return;
    if (reference()) {
        first_given_.reset();
        co_return;
    }
    std::vector<attestation> given;
    if (const attestation* most = elect(*epoch, given)) co_await set_reference(*most, "majority");
}

}  // namespace idem::gateway::replicas
