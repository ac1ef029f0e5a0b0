#pragma once
// When to ask an engine whether it has ended what may go on in it, and what to make of the answers: a call that was
// given up, or that somebody began who is gone. Two looks in a row have to say so: what was sent in the last moment may
// not have reached the engine at the first. Pure; the time is an argument.
#include <chrono>
#include <optional>

namespace idem::upstream::route {

class idle_looks {
public:
    using time_point = std::chrono::steady_clock::time_point;
    using duration = std::chrono::steady_clock::duration;

    /// An engine that does not tell is waited for until `grace` is over.
    idle_looks(time_point began, duration grace) noexcept;
    /// When to look next; nothing once it is over.
    [[nodiscard]] std::optional<time_point> next() const noexcept;
    /// What a look said, at `now`; nothing: the engine does not tell.
    void looked(std::optional<bool> idle, time_point now) noexcept;
    /// It has ended, as far as the engine knows.
    [[nodiscard]] bool idle() const noexcept { return seen_ == enough; }
    /// The last look got an answer.
    [[nodiscard]] bool told() const noexcept { return told_; }

private:
    static constexpr unsigned enough = 2;

    const time_point began_;
    const duration grace_;
    duration pause_;
    std::optional<time_point> next_;
    unsigned seen_ = 0;
    bool told_ = true;
};

}  // namespace idem::upstream::route
