#pragma once
// When to take, renew and give back the lease on one replica that several gateways share, and whether calls may begin
// meanwhile. The core: no clock, no store; a keeper obeys it and tells it what came of it.
//
//   idle ── work ──> asking ── held ──> (looking) ──> held ── lapsed, lost ──> idle
//     <── given back ───────────────────────────────┘
//                         └─ the store fails ──> unprotected
//
// A gateway holds the lease while it has work. Where others want it, it begins nothing new once its turn has lasted
// `turn`, gives the lease back when its last call has ended, and asks again only after two of the others' polls, so
// that each of them has asked before. A lease that ended by the clock is nobody's: nothing begins before the store was
// asked again. Where the store does not answer calls go on, unprotected: whoever runs such a call is told.
//
// Who gets a lease that was not given back in good order begins nothing before the engine has said that it is idle: a
// call of whoever had it before may go on. A lease is advice and stops nobody (Martin Kleppmann, "How to do distributed
// locking", 2016); a call that the other one had just sent when it was stopped is seen by this alone.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "upstream/route/idle_looks.hpp"

namespace idem::upstream::route {

struct lease_rules {
    using duration = std::chrono::steady_clock::duration;
    duration length = std::chrono::seconds(10);
    duration renew = std::chrono::milliseconds(500);   // that often others' wishes are heard, too; at most length / 3
    duration poll = std::chrono::milliseconds(100);    // while somebody else has it
    duration turn = std::chrono::seconds(1);           // while others want it
    duration linger = std::chrono::milliseconds(100);  // without work
    duration retry = std::chrono::milliseconds(500);   // after the store failed
    duration grace =
        std::chrono::seconds(2);  // for what a lapsed holder may have begun, where the engine does not tell
};

class lease_turns {
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit lease_turns(lease_rules rules) noexcept;

    struct demand {
        std::size_t waiting = 0, in_flight = 0;
    };
    enum class step : std::uint8_t { wait, ask, give_back, look };
    struct action {
        step what = step::wait;
        time_point until = time_point::max();  // with wait: or until the demand changes
    };
    /// With give_back the gate is shut first; where a call has begun meanwhile, ask again instead. look: ask the engine
    /// whether it is idle.
    [[nodiscard]] action next(demand now_wanted, time_point now) noexcept;

    enum class answer : std::uint8_t { held, taken, failed };
    /// How whoever had it before left it: in good order; nobody knows of anybody; it lapsed.
    enum class past : std::uint8_t { settled, unknown, lapsed };
    /// What the store said to `ask`, which was sent at `asked`.
    void answered(answer what, bool wanted, time_point asked, time_point now, past before = past::settled) noexcept;
    /// What the engine said to `look`: nothing where it does not tell.
    void looked(std::optional<bool> idle, time_point now) noexcept;
    /// Whether the looks have just ended without an engine that is idle: calls that begin now may have company. Once.
    [[nodiscard]] bool take_doubt() noexcept { return std::exchange(doubt_, false); }
    /// `give_back` was carried out, whatever the store said.
    void given_back(time_point now) noexcept;

    struct gate {
        bool open = false;         // calls may begin
        bool unprotected = false;  // they share the replica with calls of gateways that nobody has heard of
        time_point valid_until{};  // the lease is ours at least until then
        std::uint64_t lapses = 0;  // so often it was not ours while there was work
        bool settled = true;       // nothing of whoever had the lease before us may go on, as far as we know
    };
    [[nodiscard]] gate state() const noexcept;

private:
    enum class phase : std::uint8_t { idle, held, unprotected };
    void lose(phase into) noexcept;
    [[nodiscard]] action next_look(demand now_wanted, time_point now) noexcept;
    void look_anew(time_point now) noexcept;

    const lease_rules rules_;
    phase phase_ = phase::idle;
    bool wanted_ = false;    // by others
    bool yielding_ = false;  // begin nothing new
    bool resting_ = false;   // without work since `rests_since_`
    bool lapsed_ = false;    // counted already, and the store has not said anything since
    std::uint64_t lapses_ = 0;
    bool doubt_ = false;
    past before_ = past::settled;
    std::optional<idle_looks> looks_;  // while nobody has said that the engine is idle
    time_point ask_at_{};              // not before
    time_point valid_until_{}, turn_began_{}, rests_since_{};
};

}  // namespace idem::upstream::route
