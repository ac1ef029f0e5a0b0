#pragma once
// Who may call one replica now, and who waits: first come, first served, with two exceptions. At most `at_once` calls
// run at the same time. Where the engine must not see greedy and sampled calls in one batch, calls of one kind run
// together while the other kind waits: whoever waits longest decides whose turn it is, all of that kind that wait then
// are part of the turn, and later ones join it only while nobody of the other kind waits. So neither kind starves.
//
// The core: no clock, no lock, no I/O. `slots` is the shell.
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

namespace idem::upstream::route {

enum class call_kind : std::uint8_t { greedy, sampled };

struct slot_rules {
    std::size_t at_once = 0;  // calls in flight; 0: any number
    bool no_mixing = false;   // greedy and sampled calls never together
    std::size_t queue = 256;  // calls that wait
    [[nodiscard]] bool unlimited() const noexcept { return at_once == 0 && !no_mixing; }
};

class slot_queue {
public:
    explicit slot_queue(slot_rules rules) noexcept : rules_(rules) {}

    struct place {
        call_kind kind;
        std::uint64_t number;  // in the order of arrival
        void* owner;
    };
    using ticket = std::list<place>::iterator;

    /// While shut nobody begins; who has begun goes on.
    void open(bool yes) noexcept { open_ = yes; }
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    /// Begins at once if that is nobody else's turn.
    [[nodiscard]] bool begin(call_kind kind) noexcept;
    /// A place behind all others; nullopt: the queue is full. Call next() afterwards.
    [[nodiscard]] std::optional<ticket> queue(call_kind kind, void* owner);
    /// Who waited goes away.
    void leave(ticket at) noexcept;
    /// A call that had begun is over.
    void end() noexcept { --in_flight_; }
    /// Who is to begin now: taken out of the queue and counted. Call until it is empty after end(), leave() and open().
    [[nodiscard]] std::optional<place> next() noexcept;

    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_[0].size() + waiting_[1].size(); }

private:
    [[nodiscard]] std::list<place>& of(call_kind kind) noexcept {
        return waiting_[rules_.no_mixing ? static_cast<std::size_t>(kind) : 0];
    }
    [[nodiscard]] bool room() const noexcept { return open_ && (rules_.at_once == 0 || in_flight_ < rules_.at_once); }

    const slot_rules rules_;
    bool open_ = true;
    std::size_t in_flight_ = 0;
    std::uint64_t issued_ = 0;
    call_kind turn_ = call_kind::greedy;  // of those in flight
    std::uint64_t turn_end_ = 0;          // the last number that belongs to the turn
    std::array<std::list<place>, 2> waiting_;
};

}  // namespace idem::upstream::route
