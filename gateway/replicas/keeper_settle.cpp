// What concerns all replicas of an upstream: the environment of its epochs, and the golden reference.
#include <algorithm>
#include <map>

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

net::task<void> keeper::set_reference(std::vector<determinism::golden_output> outputs, std::string by) {
    const auto epoch = around_.epochs.get(index_);
    if (!epoch) co_return;
    const determinism::reference made{epoch->id, determinism::prompts_digest(prompts_, model_), std::move(outputs), by};
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

std::optional<digest> keeper::majority_environment() const {
    std::map<digest, std::size_t> votes;
    std::size_t read = 0;
    for (const seat& s : seats_) {
        if (const auto e = s.environment()) {
            ++votes[*e];
            ++read;
        }
    }
    const auto most = std::ranges::max_element(votes, {}, [](const auto& v) { return v.second; });
    if (most == votes.end() || most->second * 2 <= read) return std::nullopt;
    return most->first;
}

net::task<void> keeper::settle_for_ever() {
    for (;;) {
        co_await settle();
        co_await unsettled_.wait(net::clock::now() + tick_);
    }
}

net::task<void> keeper::settle() {
    const auto environment = majority_environment();
    const auto epoch = around_.epochs.get(index_);
    if (!epoch) {
        const bool all = std::ranges::all_of(seats_, [](const seat& s) { return s.environment().has_value(); });
        const bool waited = first_read_ && net::clock::now() >= *first_read_ + patience;
        if (all || waited) {
            // Without a majority the first replica's: the others are quarantined, and an operator is told.
            for (const seat& s : seats_) {
                if (const auto e = environment ? environment : s.environment()) {
                    around_.propose(*e);
                    break;
                }
            }
        }
        co_return;
    }
    if (environment && *environment != epoch->environment) {
        std::size_t moved = 0;
        for (const seat& s : seats_) moved += s.environment() == environment;
        const bool by_itself = pool_.environment.on_change == config::environment_rules::change::new_epoch ||
                               epoch->environment == determinism::unwatched_environment();
        if (by_itself && moved * 2 > seats_.size()) {
            (void)co_await around_.open_epoch(*environment, "most of its replicas have another environment");
            co_return;
        }
    }
    co_await read_reference();
    // Who has run no golden prompt does not know what the others' outputs answer.
    if (!model_known_ || reference()) co_return;
    std::vector<attestation> given;
    for (const seat& s : seats_) {
        if (const auto* outputs = s.outputs(); outputs && s.environment() == epoch->environment) {
            given.emplace_back();
            given.back().what = attestation::result::steady;
            given.back().outputs = *outputs;
        }
    }
    std::vector<const attestation*> views;
    for (const attestation& a : given) views.push_back(&a);
    if (auto outputs = determinism::majority(views, seats_.size()))
        co_await set_reference(std::move(*outputs), "majority");
}

}  // namespace idem::gateway::replicas
