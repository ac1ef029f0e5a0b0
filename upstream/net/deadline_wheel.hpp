#pragma once
// Deadlines as plain data: a hashed timing wheel (Varghese and Lauck, 1987) over intrusive nodes. No I/O and no clock:
// the time is an argument. One thread. Arming and disarming cost a few instructions and never allocate.
//
// A node that is already linked is not moved when it is armed for later or disarmed: only its time changes, and the
// wheel looks again when it comes past the slot. A connection that arms the same deadline per request therefore touches
// one word.
#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace idem::upstream::net {

class deadline_wheel;

/// A wait that must end. Lives in its owner, at a fixed address; the wheel must outlive its armed state or be shut
/// down.
class deadline_node {
public:
    using clock = std::chrono::steady_clock;
    /// Called once on expiry, from deadline_wheel::advance; may arm, disarm or destroy any node, also this one.
    using callback = void (*)(void* owner) noexcept;

    deadline_node(callback on_expiry, void* owner) noexcept : on_expiry_(on_expiry), owner_(owner) {}
    ~deadline_node() { unlink(); }
    deadline_node(const deadline_node&) = delete;
    deadline_node& operator=(const deadline_node&) = delete;

    [[nodiscard]] bool armed() const noexcept { return armed_; }
    /// True from expiry until the next arm.
    [[nodiscard]] bool expired() const noexcept { return expired_; }

private:
    friend class deadline_wheel;
    void unlink() noexcept;

    deadline_node* next_ = nullptr;
    deadline_node* previous_ = nullptr;
    deadline_wheel* wheel_ = nullptr;  // where it is linked
    std::uint64_t due_ = 0;            // tick at which it expires
    callback on_expiry_;
    void* owner_;
    std::uint16_t slot_ = 0;
    bool armed_ = false;
    bool expired_ = false;
};

class deadline_wheel {
public:
    using clock = deadline_node::clock;
    deadline_wheel(clock::duration tick, clock::time_point now) noexcept;
    ~deadline_wheel() { clear(); }
    deadline_wheel(const deadline_wheel&) = delete;
    deadline_wheel& operator=(const deadline_wheel&) = delete;

    /// Expires at the first tick not before `at`: never early, late by less than one tick.
    void arm(deadline_node& node, clock::time_point at) noexcept;
    static void disarm(deadline_node& node) noexcept;
    /// Calls what is due at `now`. Does nothing when called from one of its own callbacks.
    void advance(clock::time_point now) noexcept;
    /// When advance() has something to look at; nothing while no node is armed. May be earlier than the first expiry.
    [[nodiscard]] std::optional<clock::time_point> next_look() const noexcept;
    [[nodiscard]] std::size_t armed() const noexcept { return armed_; }
    /// Forgets all nodes without calling them.
    void clear() noexcept;

private:
    friend class deadline_node;
    static constexpr std::size_t slots = 512;
    void link(deadline_node& node) noexcept;
    [[nodiscard]] std::uint64_t ticks(clock::time_point t) const noexcept;
    [[nodiscard]] std::uint64_t next_visit(std::size_t slot) const noexcept;
    void visit(std::size_t slot) noexcept;

    clock::duration tick_;
    std::uint64_t current_ = 0;  // last tick whose slot was visited
    std::size_t armed_ = 0;
    bool advancing_ = false;
    deadline_node* visiting_ = nullptr;  // rest of the slot being visited
    std::array<deadline_node*, slots> heads_{};
    std::bitset<slots> occupied_;
};

}  // namespace idem::upstream::net
