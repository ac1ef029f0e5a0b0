#pragma once
// One fill in progress, and everybody who follows it. The fill belongs to no client: it is a task of its own that
// appends what the upstream sends; every client, the first one too, is a follower with its own cursor into the log. A
// follower that leaves changes nothing, except that the last one leaving abandons the fill.
//
// States: waiting (nothing known) → answering (head known, bytes arrive) → done (conclusion known). The log keeps all
// bytes up to the entry cap; beyond it (`overflowed`) the answer cannot be stored, the log becomes a window that
// slides with the slowest follower, and nobody new may join. From there on a follower that is slow for too long is cut,
// however steadily it reads: the others wait for it only once the kept bytes are at their limit, and not longer. One
// that is alone holds up nobody but its own upstream, as through any proxy, and is never cut.
//
// Threads: the fill's side is called from the fill's thread, a follower's side from that follower's thread. One mutex a
// flight guards the rest; it is held for a copy of one upstream read at most. Followers are woken by one posted handler
// a thread, so 1,000 followers on two threads cost two posts a chunk.
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/entry/entry.hpp"
#include "cache/flight/byte_log.hpp"
#include "cache/state/bans.hpp"
#include "upstream/base/reason.hpp"
#include "upstream/net/event.hpp"
#include "upstream/net/net.hpp"

namespace idem::cache {

namespace net = upstream::net;

/// The head of the upstream's answer, as followers relay it. Immutable once begun.
struct answer_head {
    unsigned status = 0;
    std::string content_type;
    std::vector<std::pair<std::string, std::string>> headers;  // end-to-end fields to relay on a miss
    upstream::dialect::form form = upstream::dialect::form::json;
    bool as_stream = false;    // followers may forward bytes as they come; else the answer is held until it is complete
    bool hides_usage = false;  // usage was asked for by Idem: forward only whole events, without the usage event
    std::string replica;
    reason refused = reason::none;  // why this answer will not be stored, where the head says so already
    std::uint64_t canonical_size = 0;
};

/// How a fill ended.
struct conclusion {
    enum class source : std::uint8_t { filled, found };  // from the upstream, or found in the second tier
    source from = source::filled;
    std::string_view tier{};      // with found: the tier that held it; static text
    reason why = reason::none;    // why it was not stored, or why it failed
    bool stored = false;          // this fill's answer is the stored one
    bool clean = false;           // the answer ended as it should: followers end cleanly
    std::string detail;           // for the error body, without secrets
    unsigned error_status = 502;  // what to answer where no byte has been sent and there is no answer
    entry_ptr answer;             // the complete answer: ours, the winner's (lost race, object form), or the found one
    std::uint32_t upstream_ms = 0;
    unsigned upstream_status = 0;
    std::uint32_t retries = 0;
    std::uint32_t retry_after = 1;  // seconds, of a failure that waiting mends
};

class flight;

/// One caller's place in a flight. Lives on one thread; leaving is its destruction. Not movable: the flight links it.
class follower {
public:
    follower(std::shared_ptr<flight> of, net::executor on);
    ~follower();
    follower(const follower&) = delete;
    follower& operator=(const follower&) = delete;

    struct view {
        std::uint64_t version = 0;
        const answer_head* head = nullptr;  // known once answering
        const conclusion* end = nullptr;    // known once done
        std::optional<bool> ended;          // all bytes are here; true: cleanly. The store may not have answered yet
        reason broke = reason::none;        // ended, but not cleanly: why
        std::uint64_t size = 0;             // bytes that have arrived
        std::uint64_t boundary = 0;         // offset behind the last whole event
        std::optional<upstream::dialect::byte_range> usage_event;
        bool overflowed = false;
        bool cut = false;  // this follower was too slow: it must abort
    };
    [[nodiscard]] view look();
    /// Bytes at `offset`, at most to `limit`; valid until advance() goes past them.
    [[nodiscard]] std::string_view bytes(std::uint64_t offset, std::uint64_t limit);
    void advance(std::uint64_t offset);
    /// Until something changed since `version`, or interrupt(). Bounded by the fill's own deadlines.
    [[nodiscard]] net::task<void> wait(std::uint64_t version);
    /// From the follower's own thread: ends the current and every later wait.
    void interrupt() noexcept;
    [[nodiscard]] bool interrupted() const noexcept { return interrupted_; }
    /// Called on this thread when the follower is cut for being too slow, in case it hangs in a write.
    void on_cut(std::function<void()> callback) { on_cut_ = std::move(callback); }
    [[nodiscard]] flight& of() noexcept { return *of_; }

private:
    friend class flight;
    std::shared_ptr<flight> of_;
    net::executor on_;
    net::event signal_;
    std::uint64_t cursor_ = 0;                   // guarded by the flight's mutex
    std::optional<net::time_point> slow_since_;  // guarded by the flight's mutex
    bool waiting_ = false;                       // guarded by the flight's mutex
    bool cut_ = false;                           // guarded by the flight's mutex
    bool interrupted_ = false;
    std::function<void()> on_cut_;
};

class flight : public std::enable_shared_from_this<flight> {
public:
    struct limits {
        std::uint64_t entry = 4ull << 20;   // bytes of an answer that can be stored
        std::uint64_t window = 4ull << 20;  // a follower so many bytes behind is slow
        std::uint64_t most = 8ull << 20;    // bytes kept for slow followers; only here the fill waits for them
        net::duration patience = std::chrono::seconds(10);  // a follower that is slow for so long is cut
    };
    flight(net::executor fill_on, limits l);

    // The fill's side.
    void begin(answer_head head);
    /// `boundary` and `usage_event` as the dialect's watcher knows them after these bytes.
    void append(std::string_view bytes, std::uint64_t boundary,
                std::optional<upstream::dialect::byte_range> usage_event);
    [[nodiscard]] bool overflowed();
    /// After append(), once overflowed: starts and stops the patience with slow followers, and cuts those with whom it
    /// is over.
    void cut_slow(net::time_point now);
    /// True while nothing more can be kept: wait_space() before reading on.
    [[nodiscard]] bool full();
    /// REQUIRES cut_slow() before. Until there is space, or the patience with some slow follower is over.
    [[nodiscard]] net::task<void> wait_space();
    [[nodiscard]] std::string body();  // everything, while not overflowed
    [[nodiscard]] std::optional<answer_head> head();
    /// No more bytes will come; `broke` says why followers may not end cleanly, none that they may. Streams end here,
    /// objects at finish().
    void end_of_bytes(reason broke);
    void finish(conclusion end);
    /// Called on the fill's thread when the last follower leaves before the end.
    void on_abandoned(std::function<void()> callback);
    [[nodiscard]] bool abandoned();

    /// What bans look at in what is being filled. Before anybody else knows the flight.
    void concerns(const ban_subject& what);
    /// As invalidate(), where a ban that came since fits. Any thread.
    void hold_against(const ban_table& bans) noexcept;
    /// An administrator deleted the key: what is being filled must not be stored. Any thread.
    void invalidate() noexcept;
    [[nodiscard]] bool invalidated() noexcept;
    [[nodiscard]] std::size_t followers();

private:
    friend class follower;
    struct group {  // the followers of one thread
        net::executor on;
        std::vector<follower*> members;
        bool posted = false;
    };
    [[nodiscard]] bool add(follower& f);  // false: abandoned or overflowed, nobody may join
    void remove(follower& f);
    void changed(std::unique_lock<std::mutex>& lock);
    void wake(std::size_t group_index);
    [[nodiscard]] std::size_t uncut() const;
    [[nodiscard]] std::uint64_t slowest() const;
    [[nodiscard]] std::uint64_t kept() const noexcept { return log_.size() - log_.start(); }
    friend class flight_table;

    std::mutex mutex_;
    const net::executor fill_on_;
    const limits limits_;
    net::event space_;  // fill's thread
    bool wants_space_ = false;
    std::vector<group> groups_;
    std::size_t followers_ = 0;
    std::uint64_t version_ = 1;
    std::optional<answer_head> head_;
    std::optional<conclusion> end_;
    std::optional<bool> ended_;
    reason broke_ = reason::none;
    byte_log log_;
    std::uint64_t boundary_ = 0;
    std::optional<upstream::dialect::byte_range> usage_event_;
    bool overflowed_ = false, abandoned_ = false, invalidated_ = false;
    std::vector<std::string> tags_;
    std::array<std::string, 4> names_;  // model, route, upstream, scope: what `subject_` views
    std::optional<ban_subject> subject_;
    std::function<void()> on_abandoned_;
};

}  // namespace idem::cache
