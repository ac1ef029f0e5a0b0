#pragma once
// When to take, renew and give back the lease on one replica that several gateways share, and whether calls may begin
// meanwhile. The core: no clock, no store; a keeper obeys it and tells it what came of it.
//
//   idle ── work ──> asking ── held ──> held ── lapsed, lost ──> idle
//     <── given back ──────────────────┘
//                         └─ the store fails ──> unprotected
//
// A gateway holds the lease while it has work. Where others want it, it begins nothing new once its turn has lasted
// `turn`, gives the lease back when its last call has ended, and asks again only after two of the others' polls, so
// that each of them has asked before. A lease that ended by the clock is nobody's: nothing begins before the store was
// asked again. Where the store does not answer calls go on, unprotected: whoever runs such a call is told.
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace idem::upstream::route {

struct lease_rules {
    using duration = std::chrono::steady_clock::duration;
    duration length = std::chrono::seconds(10);
    duration renew = std::chrono::milliseconds(500);   // that often others' wishes are heard, too; at most length / 3
    duration poll = std::chrono::milliseconds(100);    // while somebody else has it
    duration turn = std::chrono::seconds(1);           // while others want it
    duration linger = std::chrono::milliseconds(100);  // without work
    duration retry = std::chrono::milliseconds(500);   // after the store failed
};

class lease_turns {
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit lease_turns(lease_rules rules) noexcept;

    struct demand {
        std::size_t waiting = 0, in_flight = 0;
    };
    enum class step : std::uint8_t { wait, ask, give_back };
    struct action {
        step what = step::wait;
        time_point until = time_point::max();  // with wait: or until the demand changes
    };
    /// With give_back the gate is shut first; where a call has begun meanwhile, ask again instead.
    [[nodiscard]] action next(demand now_wanted, time_point now) noexcept;

    enum class answer : std::uint8_t { held, taken, failed };
    /// What the store said to `ask`, which was sent at `asked`.
    void answered(answer what, bool wanted, time_point asked, time_point now) noexcept;
    /// `give_back` was carried out, whatever the store said.
    void given_back(time_point now) noexcept;

    struct gate {
        bool open = false;         // calls may begin
        bool unprotected = false;  // they share the replica with calls of gateways that nobody has heard of
        time_point valid_until{};  // the lease is ours at least until then
        std::uint64_t lapses = 0;  // so often it was not ours while there was work
    };
    [[nodiscard]] gate state() const noexcept;

private:
    enum class phase : std::uint8_t { idle, held, unprotected };
    void lose(phase into) noexcept;

    const lease_rules rules_;
    phase phase_ = phase::idle;
    bool wanted_ = false;    // by others
    bool yielding_ = false;  // begin nothing new
    bool resting_ = false;   // without work since `rests_since_`
    bool lapsed_ = false;    // counted already, and the store has not said anything since
    std::uint64_t lapses_ = 0;
    time_point ask_at_{};  // not before
    time_point valid_until_{}, turn_began_{}, rests_since_{};
};

}  // namespace idem::upstream::route
