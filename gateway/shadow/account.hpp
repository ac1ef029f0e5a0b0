#pragma once
// The book of one upstream across writings: what the store has, what is on its way there, and what was counted since.
// Nothing is counted twice or lost for a while where a writing fails, is overtaken, or ends nobody knows how. Pure, one
// thread.
#include <string>
#include <string_view>

#include "upstream/determinism/shadow_book.hpp"

namespace idem::gateway::shadow {

namespace determinism = upstream::determinism;

class account {
public:
    void count(determinism::shadow_result r, std::string_view replica);
    void add(determinism::shadow_divergence d);
    void settle(std::string_view replica, std::int64_t divergences_of_it);

    [[nodiscard]] determinism::shadow_book all() const;
    [[nodiscard]] std::uint64_t total(determinism::shadow_result r) const noexcept;
    [[nodiscard]] determinism::shadow_score score_of(std::string_view replica) const;
    /// Something is not written yet, as far as is known.
    [[nodiscard]] bool changed() const noexcept { return changed_; }

    /// The store's record was read: empty where there is none.
    void read(std::string_view record);
    /// What is to be written on top of what was read.
    [[nodiscard]] std::string begin();
    enum class outcome : std::uint8_t {
        written,
        overtaken,  // somebody else was first
        unknown,    // it may have been written: the next reading tells
    };
    void end(outcome of_the_writing);

private:
    determinism::shadow_book written_, going_, since_;
    std::string sent_;  // what `going_` was written in; empty: nothing is on its way
    bool changed_ = false;
};

}  // namespace idem::gateway::shadow
