#include "gateway/shadow/account.hpp"

#include <utility>

#include "gateway/shadow/record.hpp"

namespace idem::gateway::shadow {

using determinism::shadow_book;

void account::count(determinism::shadow_result r, std::string_view replica) {
    since_.count(r, replica);
    changed_ = true;
}

void account::add(determinism::shadow_divergence d) {
    since_.add(std::move(d));
    changed_ = true;
}

void account::settle(std::string_view replica, std::int64_t divergences_of_it) {
    since_.settle(replica, divergences_of_it);
    changed_ = true;
}

shadow_book account::all() const {
    shadow_book sum = since_;
    sum.merge(going_);
    sum.merge(written_);
    return sum;
}

std::uint64_t account::total(determinism::shadow_result r) const noexcept {
    return written_.total(r) + going_.total(r) + since_.total(r);
}

determinism::shadow_score account::score_of(std::string_view replica) const {
    determinism::shadow_score sum;
    for (const shadow_book* each : {&written_, &going_, &since_}) {
        const determinism::shadow_score s = each->score_of(replica);
        sum.same += s.same;
        sum.diverged += s.diverged;
        sum.counted += s.counted;
    }
    return sum;
}

void account::read(std::string_view record) {
    if (!sent_.empty()) end(record == sent_ ? outcome::written : outcome::overtaken);
    written_ = decode(record).value_or(shadow_book{});
}

std::string account::begin() {
    going_ = std::exchange(since_, {});
    changed_ = false;
    shadow_book sum = going_;
    sum.merge(written_);
    sent_ = encode(sum);
    return sent_;
}

void account::end(outcome of_the_writing) {
    if (of_the_writing == outcome::unknown) {
        changed_ = true;
        return;
    }
    if (of_the_writing == outcome::written) {
        going_.merge(written_);
        written_ = std::move(going_);
    } else {
        since_.merge(going_);
        changed_ = true;
    }
    going_ = {};
    sent_.clear();
}

}  // namespace idem::gateway::shadow
