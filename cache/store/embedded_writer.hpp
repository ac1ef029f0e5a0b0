#pragma once
// The one thread that writes the embedded store. Whatever is queued when it comes round is one transaction (group
// commit), so the cost of a commit is shared exactly when there is load. It also owns the file: opens it, sets a broken
// one aside, tries again after trouble, evicts, sweeps.
//
//   open ──────── disk full, read-only, I/O error ───────> suspended: a trial write every second
//     │ └── removed or damaged ──> set aside, a new file, the same jobs again
//   unusable: opening again every two seconds          foreign: nothing until the next start
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cache/ledger/ledger_rows.hpp"
#include "cache/store/embedded.hpp"
#include "cache/store/embedded_coordination.hpp"
#include "cache/store/embedded_file.hpp"
#include "cache/store/embedded_presence.hpp"
#include "cache/store/embedded_rows.hpp"
#include "cache/store/embedded_shared.hpp"
#include "cache/store/job_queue.hpp"
#include "cache/store/pending.hpp"

namespace idem::cache {

struct put_job {
    entry_ptr value;
    id128 replaces;
    unix_ms now;
    std::shared_ptr<pending<put_result>> answer;
    std::string blob;  // the writer's, from here on
    put_result result;
};
struct erase_job {
    cache_key key;
    std::shared_ptr<pending<erase_status>> answer;
    erase_status result = erase_status::failed;
};
struct bind_job {
    binding wanted;
    unix_ms now;
    std::shared_ptr<pending<bind_result>> answer;
    bind_result result;
};
struct record_write_job {
    std::string name, value;
    std::uint64_t expected;
    std::shared_ptr<pending<record_result>> answer;
    record_result result{};
};
/// Length 0: to release it.
struct lease_job {
    std::string name;
    id128 holder;
    std::chrono::milliseconds length;  // 0: it is given back
    bool settled;
    std::shared_ptr<pending<lease_result>> answer;
    lease_result result{};
};
struct ledger_job {
    ledger_record fill;
    std::shared_ptr<pending<noted>> answer;
    noted result{};
};
/// A reader met an entry past its store lifetime.
struct expire_job {
    cache_key key;
    unix_ms now;
};
/// A reader found the file damaged.
struct damage_job {
    std::uint64_t generation;
};
/// What was deleted is to leave no trace in the files.
struct scrub_job {};
using write_job = std::variant<put_job, erase_job, bind_job, record_write_job, lease_job, ledger_job, expire_job,
                               damage_job, scrub_job>;

class embedded_writer {
public:
    embedded_writer(const embedded_options& options, embedded_condition& condition, embedded_counters& counters,
                    recent_use& recent);

    /// Opens the file, or says why not. Before run(), on any thread.
    void open();
    /// The thread's body: until close() has been called and the queue is empty.
    void run();
    /// Any thread. False where the queue is full.
    [[nodiscard]] bool push(write_job&& job, std::size_t bytes) { return queue_.push(std::move(job), bytes); }
    void close() { queue_.close(); }
    /// Whether no entry is under this key, told without a look at the file; false says nothing. Any thread.
    [[nodiscard]] bool surely_absent(const cache_key& key) const noexcept { return presence_.surely_absent(key); }
    /// Counts the files opened so far; 0 while none is. A reader of an older one opens anew. Any thread.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

private:
    using steady = std::chrono::steady_clock;
    enum class mode : std::uint8_t { open, suspended, unusable, foreign };

    void write(std::vector<write_job> jobs);
    void write_group(std::span<write_job> jobs, bool synced);
    [[nodiscard]] int transact(std::span<write_job> jobs);
    [[nodiscard]] int begin();
    [[nodiscard]] int commit();
    [[nodiscard]] int hear_of_others();
    [[nodiscard]] int apply(write_job& job);
    [[nodiscard]] int make_room(std::int64_t pages);
    [[nodiscard]] int evict_some(int rows, bool& any);
    void fail(std::span<write_job> jobs, reason why);
    void deliver(std::span<write_job> jobs);

    [[nodiscard]] open_result open_file();
    [[nodiscard]] bool may_replace() const;
    void trouble(int code);
    void replace_file();
    void try_again();
    void upkeep();
    void cut_log();
    void fill_presence();
    [[nodiscard]] int tidy(bool& more);
    [[nodiscard]] int tidy_ledger();
    void close_file() noexcept;
    [[nodiscard]] std::int64_t next_seq() noexcept;

    const embedded_options& options_;
    embedded_condition& condition_;
    embedded_counters& counters_;
    recent_use& recent_;
    job_queue<write_job> queue_;

    sqlite_connection db_;
    entry_rows rows_;
    coordination_rows coordination_;
    ledger_rows ledger_;
    std::int64_t ledger_gone_ = 0;  // rows that were given up since they were counted
    std::int64_t ledger_counted_ = 0;
    unsigned ledger_recount_ = 0;  // rounds until they are counted anew: other processes write, too
    sqlite_statement begin_, commit_;
    embedded_presence presence_;
    cache_key filled_to_;
    bool counting_ = false;  // the first filling after opening counts the entries
    std::int64_t counted_to_ = 0;
    std::int64_t total_changes_ = 0;
    mode mode_ = mode::unusable;
    std::uint64_t inode_ = 0;
    std::uint64_t files_ = 0;
    std::atomic<std::uint64_t> generation_{0};
    std::int64_t last_seq_ = 0;
    std::int64_t sweep_after_ = 0;
    bool shrinking_ = false;
    bool scrubbing_ = false;  // free pages are given back, and the log is copied and cut
    steady::time_point retry_at_{};
    steady::time_point upkeep_at_{};
    steady::time_point last_replaced_{};
};

}  // namespace idem::cache
