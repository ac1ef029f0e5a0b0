// The writer's work on the room it has: making room for entries, giving up the expired ones, and telling what is there.
#include "cache/store/embedded_writer.hpp"

#include <algorithm>

#include "cache/store/embedded_file.hpp"

namespace idem::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t page_bytes = 4096;
constexpr int evict_step = 32;
constexpr int evict_steps = 32;  // a transaction; what is left over goes in idle moments
constexpr auto upkeep_every = 5s;
constexpr auto scrub_again = 50ms;
constexpr int sweep_rows = 1000;
constexpr int fill_rows = 1000;
constexpr unsigned ledger_rounds = 128;  // of upkeep
constexpr std::uint64_t ledger_part = 16, ledger_row_bytes = 512;
constexpr std::int64_t ledger_default_ms = std::int64_t{400} * 24 * 3600 * 1000;

unix_ms unix_now() noexcept {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

int embedded_writer::make_room(std::int64_t pages) {
    const auto cap = static_cast<std::int64_t>(options_.size) / page_bytes;
    std::int64_t used = 0, total = 0;
    int code = rows_.pages(used, total);
    bool any = true;
    for (int i = 0; i < evict_steps && code == SQLITE_OK && any && used + pages > cap; ++i) {
        code = evict_some(evict_step, any);
        if (code == SQLITE_OK) code = rows_.pages(used, total);
    }
    counters_.bytes.store(static_cast<std::uint64_t>(used * page_bytes), std::memory_order_relaxed);
    return code;
}

int embedded_writer::evict_some(int rows, bool& any) {
    evicted gone;
    const int code =
        rows_.evict(rows, [this](std::int64_t seq) { return recent_.take(seq); }, [this] { return next_seq(); }, gone);
    counters_.evictions.fetch_add(gone.rows, std::memory_order_relaxed);
    counters_.entries.fetch_sub(static_cast<std::int64_t>(gone.rows), std::memory_order_relaxed);
    any = gone.rows + gone.moved > 0;
    return code;
}

void embedded_writer::upkeep() {
    upkeep_at_ = steady::now() + upkeep_every;
    if (mode_ != mode::open) return;
    if (embedded_inode(options_.path) != inode_) {
        condition_.say("the file was removed or replaced; opening what is there now");
        return open();
    }
    if (presence_.worn()) {
        presence_.refill();
        filled_to_ = {};
    }
    bool more = false;
    int code = begin();
    if (code == SQLITE_OK) code = tidy(more);
    if (code == SQLITE_OK) code = commit();
    if (db_.in_transaction()) (void)db_.execute("ROLLBACK");
    if (mode_ != mode::open) return;
    if (code != SQLITE_OK && classify(code) != sqlite_fault::busy) return trouble(code);
    if (more) upkeep_at_ = steady::now();
    // The file itself shrinks when the log is copied into it.
    if (shrinking_ && !more) (void)db_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    shrinking_ = more;
    if (scrubbing_ && !more) cut_log();
}

// Until no reader needs the log any more.
void embedded_writer::cut_log() {
    std::int64_t busy = 1;
    const int code = db_.query("PRAGMA wal_checkpoint(TRUNCATE)", busy);
    scrubbing_ = code != SQLITE_OK || busy != 0;
    if (scrubbing_) upkeep_at_ = steady::now() + scrub_again;
}

// A step at a time, between transactions; entries that come meanwhile are added by whoever writes them.
void embedded_writer::fill_presence() {
    int seen = 0;
    std::int64_t counted = 0;
    const int code = rows_.keys_after(filled_to_, fill_rows, [&](const cache_key& key, std::int64_t seq) {
        ++seen;
        counted += seq <= counted_to_;
        presence_.add(key);
        filled_to_ = key;
    });
    if (code != SQLITE_OK) {
        presence_.end();
        return;
    }
    if (counting_) counters_.entries.fetch_add(counted, std::memory_order_relaxed);
    if (seen == fill_rows) return;
    presence_.filled();
    counting_ = false;
}

int embedded_writer::tidy_ledger() {
    if (ledger_recount_ == 0) {
        if (const int code = ledger_.count(ledger_counted_); code != SQLITE_OK) return code;
        ledger_counted_ -= ledger_.added();
        ledger_gone_ = 0;
        ledger_recount_ = ledger_rounds;
    }
    --ledger_recount_;
    // With the ledger turned off what is there goes too, once it is older than any lifetime would have let it become.
    const std::int64_t lives = options_.ledger.count() > 0 ? options_.ledger.count() : ledger_default_ms;
    int code = ledger_.expire(unix_now() - lives, sweep_rows, ledger_gone_);
    const std::int64_t most = static_cast<std::int64_t>(options_.size / ledger_part / ledger_row_bytes);
    const std::int64_t over = ledger_counted_ + ledger_.added() - ledger_gone_ - most;
    if (code == SQLITE_OK && over > 0)
        code = ledger_.trim(static_cast<int>(std::min<std::int64_t>(over, sweep_rows)), ledger_gone_);
    return code;
}

int embedded_writer::tidy(bool& more) {
    std::uint64_t gone = 0;
    int code = rows_.sweep(sweep_after_, unix_now(), sweep_rows, gone);
    counters_.expired.fetch_add(gone, std::memory_order_relaxed);
    counters_.entries.fetch_sub(static_cast<std::int64_t>(gone), std::memory_order_relaxed);
    if (code == SQLITE_OK) code = rows_.unbind(unix_now(), sweep_rows);
    if (code == SQLITE_OK) code = tidy_ledger();
    if (code == SQLITE_OK) code = make_room(0);
    std::int64_t used = 0, total = 0;
    if (code == SQLITE_OK) code = rows_.pages(used, total);
    const auto cap = static_cast<std::int64_t>(options_.size) / page_bytes;
    // The file is larger than it may be only after its size was lowered: give pages back, a few at a time.
    // And who erases wants no free page to be left with what was on it.
    const bool gives_back = total > cap || scrubbing_;
    if (code == SQLITE_OK && gives_back && used < total) code = db_.execute("PRAGMA incremental_vacuum(1024)");
    if (code == SQLITE_OK && gives_back) code = rows_.pages(used, total);
    more = (total > cap && used > cap) || (gives_back && used < total);
    return code;
}

}  // namespace idem::cache
