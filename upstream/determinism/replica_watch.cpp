#include "upstream/determinism/replica_watch.hpp"

#include <algorithm>
#include <utility>

namespace idem::upstream::determinism {

replica_watch::action replica_watch::next(time_point now) const {
    if (now >= health_due_) return {step::check_health};
    time_point wake = health_due_;
    if (healthy_) {
        if (now >= facts_due_) return {step::read_facts};
        wake = std::min(wake, facts_due_);
        // What cannot be admitted anyway is not put to work.
        const bool fit = read_ && violated_.empty() && epoch_ && read_->id() == *epoch_ && !held_;
        if (settings_.attests && fit) {
            const bool evaluates = settings_.evaluation_interval > net::duration::zero();
            const bool thorough = evaluates && now >= evaluation_due_;
            if (now >= attest_due_ || (thorough && attested_)) return {step::attest, {}, thorough};
            wake = std::min(wake, attest_due_);
            if (evaluates && attested_) wake = std::min(wake, evaluation_due_);
        }
    }
    return {step::wait, wake};
}

void replica_watch::become(replica_state state, cause why, std::string detail) {
    if (state != replica_state::admitted) {
        diverging_ = false;
        proven_ = false;
    }
    state_ = state;
    why_ = why;
    detail_ = std::move(detail);
}

// Whatever it gave before says nothing any more.
void replica_watch::forget() noexcept {
    attested_.reset();
    evaluation_due_ = {};
}

void replica_watch::hurry(time_point now) {
    health_due_ = facts_due_ = attest_due_ = now;
}

void replica_watch::health(bool reached, bool good, std::string detail, time_point now) {
    health_due_ = now + settings_.health_interval;
    if (reached && good) {
        failures_ = 0;
        healthy_ = true;
        if (state_ == replica_state::down) {
            become(replica_state::probing, cause::returned);
            runs_ = 0;
            facts_due_ = attest_due_ = now;
        }
        return;
    }
    ++failures_;
    // One that is not admitted anyway has no requests to lose.
    const bool enough = state_ != replica_state::admitted || failures_ >= settings_.health_failures;
    if (!enough) {
        health_due_ = now + settings_.health_interval / 4;
        return;
    }
    healthy_ = false;
    if (!held_) become(replica_state::down, reached ? cause::unhealthy : cause::unreachable, std::move(detail));
}

void replica_watch::facts(const environment& read, const std::vector<violation>& violated, time_point now) {
    facts_due_ = now + settings_.facts_interval;
    if (read_ && *read_ != read) {
        forget();
        moved_ = false;
        runs_ = 0;
        attest_due_ = now;
    }
    read_ = read;
    violated_ = violated;
    place(now);
}

void replica_watch::facts_unread(std::string detail, time_point now) {
    facts_due_ = now + settings_.health_interval;
    if (state_ == replica_state::probing) detail_ = std::move(detail);
}

// Where it belongs by its facts. Whether its outputs are right is asked after that.
void replica_watch::place(time_point now) {
    if (held_ || !read_ || !healthy_) return;
    if (!violated_.empty()) {
        std::string told;
        for (const violation& v : violated_) {
            if (!told.empty()) told += ", ";
            told += v.name + (v.found.empty() ? " is unknown" : " is \"" + v.found + "\"") + ", locked to \"" +
                    v.wanted + "\"";
        }
        return become(replica_state::quarantined, cause::locked_fact_differs, std::move(told));
    }
    if (!epoch_) return become(replica_state::probing, cause::awaiting_epoch);
    if (read_->id() != *epoch_) {
        return become(replica_state::quarantined, cause::environment_changed,
                      "its facts are not those of the current epoch");
    }
    if (state_ == replica_state::admitted || moved_) return;
    if (!settings_.attests) return become(replica_state::admitted, cause::none);
    if (state_ == replica_state::quarantined) become(replica_state::probing, cause::returned);
    if (why_ != cause::awaiting_reference && why_ != cause::attestation_failed) attest_due_ = now;
    if (why_ == cause::awaiting_epoch) why_ = cause::starting;
}

void replica_watch::attested(attestation result, const reference* with, std::span<const golden_prompt> prompts,
                             bool may_quarantine, time_point now) {
    attest_due_ = now + settings_.attest_interval;
    if (!healthy_) {  // it went down meanwhile: that it gave no answer is known
        attest_due_ = now;
        return;
    }
    // Soon again: it may have been busy, or loading.
    if (result.what == attestation::result::failed) attest_due_ = now + settings_.facts_interval;
    if (result.thorough)
        evaluation_due_ =
            result.what == attestation::result::failed ? attest_due_ : now + settings_.evaluation_interval;
    switch (result.what) {
        case attestation::result::failed:
            if (state_ != replica_state::admitted)
                become(replica_state::probing, cause::attestation_failed, std::move(result.detail));
            return;
        case attestation::result::flipped:
            return reject(cause::output_flipped, std::move(result.detail), may_quarantine);
        case attestation::result::drifted:
            return reject(cause::prompt_drift, std::move(result.detail), may_quarantine);
        case attestation::result::steady:
            break;
    }
    attested_ = std::move(result);
    proven_ = false;
    if (!with) {
        if (state_ != replica_state::admitted) become(replica_state::probing, cause::awaiting_reference);
        return;
    }
    conclude(*with, prompts, may_quarantine);
}

void replica_watch::judge(const reference& with, std::span<const golden_prompt> prompts, bool may_quarantine) {
    if (!attested_ || held_ || !healthy_) return;
    proven_ = false;
    runs_ = 0;
    conclude(with, prompts, may_quarantine);
}

void replica_watch::conclude(const reference& with, std::span<const golden_prompt> prompts, bool may_quarantine) {
    std::string detail;
    switch (compare(*attested_, with, prompts, detail)) {
        case comparison::matches:
            if (!proven_) runs_ += attested_->runs;
            diverging_ = moved_ = false;
            become(replica_state::admitted, cause::none);
            proven_ = true;
            return;
        case comparison::differs:
            return reject(cause::output_differs, std::move(detail), may_quarantine);
        case comparison::drifted:
            return reject(cause::prompt_drift, std::move(detail), may_quarantine);
        case comparison::moved:
            runs_ = 0;
            moved_ = true;
            return become(replica_state::quarantined, cause::environment_changed, std::move(detail));
    }
}

// Its outputs are not the reference's. Where most are like that it is the world that changed, and to answer without a
// guarantee is better than not to answer.
void replica_watch::reject(cause why, std::string detail, bool may_quarantine) {
    runs_ = 0;
    attested_.reset();
    if (may_quarantine) {
        become(replica_state::quarantined, why, std::move(detail));
        held_ = true;
    } else {
        become(replica_state::admitted, why, std::move(detail));
        diverging_ = true;
    }
}

void replica_watch::suspected(time_point now) {
    if (held_ || state_ == replica_state::down) return;
    if (state_ == replica_state::admitted) become(replica_state::probing, cause::suspect);
    runs_ = 0;
    hurry(now);
}

void replica_watch::diverged(bool may_quarantine) {
    // Who is not admitted is judged by what keeps it out.
    if (held_ || !healthy_ || (state_ != replica_state::admitted && state_ != replica_state::probing)) return;
    if (state_ == replica_state::probing && !may_quarantine) return;
    reject(cause::answers_diverged, "answers that it gave, run again, came out otherwise", may_quarantine);
}

void replica_watch::epoch(std::optional<digest> environment, time_point now, const id128& id) {
    const bool another = std::exchange(epoch_id_, id) != id;
    // In the same environment what was attested stays; a reference comes with the epoch.
    if (another && std::exchange(moved_, false)) place(now);
    if (epoch_ == environment) return;
    epoch_ = environment;
    // Another epoch has another reference.
    forget();
    runs_ = 0;
    if (state_ == replica_state::admitted) become(replica_state::probing, cause::awaiting_epoch);
    attest_due_ = now;
    place(now);
}

void replica_watch::obey(order what, time_point now) {
    switch (what) {
        case order::quarantine:
            held_ = true;
            return become(replica_state::quarantined, cause::operator_order);
        case order::drain:
            held_ = true;
            return become(replica_state::draining, cause::operator_order);
        case order::readmit:
            held_ = moved_ = false;
            runs_ = 0;
            become(replica_state::probing, cause::operator_order);
            return hurry(now);
        case order::attest:
            runs_ = 0;
            forget();
            return hurry(now);
    }
}

void replica_watch::restore(replica_state state, cause why, std::string detail) {
    const bool ordered =
        why == cause::operator_order && (state == replica_state::quarantined || state == replica_state::draining);
    const bool own_output =
        state == replica_state::quarantined && (why == cause::output_differs || why == cause::output_flipped ||
                                                why == cause::prompt_drift || why == cause::answers_diverged);
    if (!ordered && !own_output) return;  // everything else is looked at anew
    held_ = true;
    become(state, why, std::move(detail));
}

void replica_watch::succeed(const condition& found, std::vector<golden_output> outputs, time_point now) {
    *this = replica_watch(settings_);
    restore(found.state, found.why, found.detail);
    if (held_ || found.state != replica_state::admitted || !found.facts) return;
    become(found.state, found.why, found.detail);
    healthy_ = true;
    runs_ = found.runs;
    diverging_ = found.diverging;
    read_ = *found.facts;
    epoch_ = found.environment;
    if (!outputs.empty()) attested_ = {attestation::result::steady, std::move(outputs), 0, {}};
    proven_ = runs_ > 0;
    attest_due_ = now + settings_.attest_interval;
    evaluation_due_ = now + settings_.evaluation_interval;
}

}  // namespace idem::upstream::determinism
