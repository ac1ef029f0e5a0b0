#include "upstream/route/lease_turns.hpp"

#include <algorithm>

namespace idem::upstream::route {

namespace {

lease_rules sane(lease_rules r) noexcept {
    r.renew = std::min(r.renew, r.length / 3);
    return r;
}

}  // namespace

lease_turns::lease_turns(lease_rules rules) noexcept : rules_(sane(rules)) {}

void lease_turns::lose(phase into) noexcept {
    lapses_ += !lapsed_;
    lapsed_ = true;
    phase_ = into;
    wanted_ = yielding_ = false;
}

lease_turns::action lease_turns::next(demand now_wanted, time_point now) noexcept {
    const bool work = now_wanted.waiting + now_wanted.in_flight > 0;
    if (phase_ == phase::held && now > valid_until_) {
        // It may be somebody else's by now.
        if (work) lose(phase::idle);
        phase_ = phase::idle;
        ask_at_ = now;
    }
    if (phase_ != phase::held) {
        if (!work) {
            phase_ = phase::idle;
            lapsed_ = false;
            return {};
        }
        return now < ask_at_ ? action{step::wait, ask_at_} : action{step::ask, {}};
    }
    if (looks_) return next_look(now_wanted, now);
    const bool turn_over = now - turn_began_ >= rules_.turn;
    yielding_ = wanted_ && (turn_over || now_wanted.waiting == 0);
    resting_ = !work && resting_;
    if (!work && !resting_) {
        resting_ = true;
        rests_since_ = now;
    }
    const bool rested = resting_ && now - rests_since_ >= rules_.linger;
    if (now_wanted.in_flight == 0 && (yielding_ || rested)) {
        yielding_ = true;  // a call that began now would lose the lease under its feet
        return {step::give_back, {}};
    }
    if (now >= ask_at_) return {step::ask, {}};
    time_point until = std::min(ask_at_, valid_until_);
    if (resting_) until = std::min(until, rests_since_ + rules_.linger);
    if (wanted_ && !turn_over) until = std::min(until, turn_began_ + rules_.turn);
    return {step::wait, until};
}

// While calls of our own run that the lease has lapsed under, the engine has nothing to say; they tell when they end.
lease_turns::action lease_turns::next_look(demand now_wanted, time_point now) noexcept {
    if (now >= ask_at_) return {step::ask, {}};
    time_point until = std::min(ask_at_, valid_until_);
    if (now_wanted.in_flight > 0) {
        look_anew(now);
    } else {
        const auto due = looks_->next();
        if (!due || now >= *due) return {step::look, {}};
        until = std::min(until, *due);
    }
    return {step::wait, until};
}

void lease_turns::look_anew(time_point now) noexcept {
    looks_.emplace(now, before_ == past::unknown ? lease_rules::duration(0) : rules_.grace);
}

void lease_turns::looked(std::optional<bool> idle, time_point now) noexcept {
    if (!looks_) return;
    looks_->looked(idle, now);
    if (looks_->next()) return;
    // Of a replica that nobody is known to have used, and that does not tell, there is no reason to doubt.
    doubt_ = !looks_->idle() && !(before_ == past::unknown && !looks_->told());
    looks_.reset();
    turn_began_ = now;
}

void lease_turns::answered(answer what, bool wanted, time_point asked, time_point now, past before) noexcept {
    switch (what) {
        case answer::held:
            // It may have been somebody else's in between.
            if (phase_ == phase::held && asked > valid_until_) ++lapses_;
            lapsed_ = false;
            // Ours all the time, and a store that has forgotten: there is nobody else.
            if (phase_ == phase::held && before == past::unknown) before = past::settled;
            if (before != past::settled) before_ = before;
            if (before != past::settled || (phase_ != phase::held && looks_)) look_anew(now);
            if (phase_ != phase::held) {
                turn_began_ = now;
                resting_ = false;
            }
            phase_ = phase::held;
            wanted_ = wanted;
            valid_until_ = asked + rules_.length;
            ask_at_ = asked + rules_.renew;
            return;
        case answer::taken:
            if (phase_ == phase::held) lose(phase::idle);
            lapsed_ = false;
            phase_ = phase::idle;
            ask_at_ = now + rules_.poll;
            return;
        case answer::failed:
            if (phase_ == phase::idle) lose(phase::unprotected);
            ask_at_ = now + std::min(rules_.retry, rules_.renew);
            return;
    }
}

void lease_turns::given_back(time_point now) noexcept {
    // Who waits has asked at least once before we ask again.
    ask_at_ = wanted_ ? now + 2 * rules_.poll : now;
    phase_ = phase::idle;
    wanted_ = yielding_ = resting_ = false;
}

lease_turns::gate lease_turns::state() const noexcept {
    return {phase_ == phase::unprotected || (phase_ == phase::held && !yielding_ && !looks_),
            phase_ == phase::unprotected, phase_ == phase::held ? valid_until_ : time_point{}, lapses_, !looks_};
}

}  // namespace idem::upstream::route
