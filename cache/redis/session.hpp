#pragma once
// One connection to Redis, from connect to close, without its I/O: who asked what, what may be written, whose reply the
// next bytes are, and when to give up. The shell asks next() after every event and obeys.
//
// The rule that everything here serves: a command whose bytes were handed out either gets its reply delivered to its
// own slot, or the connection dies. A caller who leaves only detaches its slot; the reply is still read, and dropped.
// So no reply can ever reach another command (CVE-2023-28858 is what happens otherwise). Bytes that answer nothing, a
// reply of the wrong type, a PING that comes back with another nonce, and a deadline that passes all end the
// connection.
//
//   idle --start--> connecting --connected--> handshake --PING answered--> ready --any fault--> closed
//
// During connecting and handshake callers' commands wait unsent; they fail by themselves if that takes too long.
// No Asio, no clock, no randomness: times and the nonce are arguments. One thread. Times must not run backwards.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "cache/redis/command.hpp"
#include "cache/redis/fault.hpp"
#include "cache/redis/reply.hpp"

namespace idem::cache::redis {

struct session_settings {
    std::string user, password;  // password empty: no AUTH
    std::string name = "idem";   // CLIENT SETNAME; empty: not sent
    std::uint32_t database = 0;
    reply_limits limits;
    std::chrono::milliseconds progress{50};            // the oldest command sees no byte moving for that long
    std::chrono::milliseconds whole{500};              // a command is not answered by then
    std::chrono::milliseconds connect{500};            // name resolution, connect and TLS together
    std::chrono::milliseconds ping{10'000};            // between two checks that replies still match commands
    std::size_t slots = 1024;                          // commands waiting or in flight
    std::size_t queued_bytes = std::size_t{32} << 20;  // of commands not yet written
};

/// What became of a command. With an error reply `why` names it and `value` is that reply.
struct session_result {
    fault why = fault::none;
    reply value;
    bool collateral = false;  // failed because the connection ended, not by itself
};

/// Names a command on its session until its result is delivered.
using slot_id = std::uint64_t;

enum class action_kind : std::uint8_t {
    wait,     // nothing until the next event
    connect,  // then connected() or lost()
    write,    // all of `bytes`, then written() or lost(); they stay where they are until then
    read,     // some bytes, then received() or lost()
    deliver,  // give `result` to the caller who enqueued with `token`
    close,    // close the socket, disarm deadlines; nothing follows
};
struct session_action {
    action_kind kind = action_kind::wait;
    std::string_view bytes;
    std::uint64_t token = 0;
    session_result result;
};

class session {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// `settings` must outlive the session. `nonce` is random and differs from connection to connection.
    session(const session_settings& settings, std::uint64_t nonce);

    // Events. Calls after the close action are ignored, so that operations that were cut short may still report.
    void start(time_point now);
    void connected(time_point now);
    void written(time_point now);
    void received(std::string_view bytes, time_point now);
    /// Connect, read or write failed, or the peer closed.
    void lost(fault why);
    /// Call when deadline() has passed; earlier does nothing.
    void tick(time_point now);
    void shut_down() { fail(fault::shut_down); }

    /// Queues a command; its result is delivered once, later, unless detached. Nothing: full or closed.
    [[nodiscard]] std::optional<slot_id> enqueue(command what, std::uint64_t token, time_point now);
    /// The caller is gone: its result will not be delivered any more, not even if it is ready.
    void detach(slot_id id) noexcept;

    [[nodiscard]] session_action next();
    [[nodiscard]] std::optional<time_point> deadline() const noexcept;

    [[nodiscard]] bool ready() const noexcept { return state_ == state::ready && !retiring_; }
    [[nodiscard]] bool closed() const noexcept { return state_ == state::closed; }
    /// Takes commands, now or when it is ready.
    [[nodiscard]] bool open() const noexcept { return state_ != state::closed && !retiring_; }
    /// An error reply made it stop taking commands: failure() was delivered to a caller before.
    [[nodiscard]] bool retired() const noexcept { return retiring_; }
    /// Why it closed, or will.
    [[nodiscard]] fault failure() const noexcept { return failure_; }
    /// Commands of callers, waiting or in flight, detached ones included.
    [[nodiscard]] std::size_t load() const noexcept { return callers_; }

private:
    enum class state : std::uint8_t { idle, connecting, handshake, ready, closed };
    enum class purpose : std::uint8_t { caller, auth, set_name, select, ping };
    struct slot {
        slot_id id = 0;
        std::uint64_t token = 0;
        purpose what = purpose::caller;
        bool detached = false;
        answer_set answers;
        time_point queued;
        std::uint64_t end = 0;  // offset in the stream of written bytes just past this command
    };
    struct waiting_command {
        slot_id id = 0;
        std::uint64_t token = 0;
        time_point queued;
        command what;
    };
    // Small commands share a buffer and go out in one write; a large one is written from where it was formatted.
    struct chunk {
        std::string joined;
        std::optional<command> large;
        [[nodiscard]] std::string_view bytes() const noexcept { return large ? large->wire() : joined; }
    };
    struct delivery {
        slot_id id = 0;
        std::uint64_t token = 0;
        session_result result;
    };

    void send(command what, slot s);
    void handshake(time_point now);
    void send_ping(time_point now);
    void settle(reply value, time_point now);
    void settle_caller(slot s, reply value);
    void settle_handshake(const slot& s, const reply& value, time_point now);
    void become_ready(time_point now);
    void fail(fault why);
    void expire_waiting(time_point now);
    [[nodiscard]] time_point in_flight_deadline() const noexcept;

    const session_settings& settings_;
    std::uint64_t nonce_;
    reply_parser parser_;
    state state_ = state::idle;
    fault failure_ = fault::none;
    bool retiring_ = false;  // takes no more; closes when the last reply is in
    bool connect_wanted_ = false;
    bool writing_ = false;
    bool reading_ = false;
    bool close_told_ = false;

    slot_id last_id_ = 0;
    std::size_t callers_ = 0;
    std::deque<waiting_command> waiting_;  // before ready
    std::size_t waiting_bytes_ = 0;
    std::deque<slot> slots_;  // in the order of their bytes, which is the order of their replies
    std::deque<delivery> deliveries_;

    std::deque<chunk> output_;
    std::size_t output_offset_ = 0;    // of output_.front(), already written
    std::size_t write_size_ = 0;       // of the write in progress
    std::uint64_t queued_total_ = 0;   // bytes ever queued
    std::uint64_t handed_total_ = 0;   // bytes ever handed to a write
    std::uint64_t written_total_ = 0;  // bytes of finished writes

    time_point started_;
    time_point progress_;  // when a byte last moved for the oldest command
    time_point next_ping_;
    std::string ping_text_;  // of the PING in flight
};

}  // namespace idem::cache::redis
