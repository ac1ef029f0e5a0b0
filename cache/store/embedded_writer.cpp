#include "cache/store/embedded_writer.hpp"

#include <algorithm>

#include "cache/store/embedded_file.hpp"

namespace idem::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t group_jobs = 256;
constexpr std::size_t group_bytes = 8 << 20;
constexpr auto group_every = 2ms;  // the first after a pause goes at once
constexpr std::size_t most_queued = 65'536;
constexpr std::int64_t page_bytes = 4096;
constexpr auto trial_every = 1s;
constexpr auto open_every = 2s;
constexpr auto replace_every = 10s;  // a device that damages every file is not given one after the other
constexpr auto busy_upkeep = 30s;    // how long it waits for an idle moment

std::int64_t unix_microseconds() noexcept {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

unix_ms unix_now() noexcept {
    return unix_microseconds() / 1000;
}

template <class... Lambda>
struct overloaded : Lambda... {
    using Lambda::operator()...;
};
template <class... Lambda>
overloaded(Lambda...) -> overloaded<Lambda...>;

}  // namespace

embedded_writer::embedded_writer(const embedded_options& options, embedded_condition& condition,
                                 embedded_counters& counters, recent_use& recent)
    : options_(options),
      condition_(condition),
      counters_(counters),
      recent_(recent),
      queue_(options.queue_bytes, most_queued),
      presence_(options.size) {}

void embedded_writer::open() {
    open_result result = open_file();
    if (result.status == open_status::corrupt && may_replace()) {
        condition_.say(result.what);
        last_replaced_ = steady::now();
        const std::string said = set_aside(options_.path, embedded_inode(options_.path), unix_now() / 1000);
        if (!said.empty()) condition_.say(said);
        result = open_file();
    }
    if (result.status == open_status::ok) {
        mode_ = mode::open;
        generation_.store(++files_, std::memory_order_release);
        condition_.good();
        return;
    }
    close_file();
    mode_ = result.status == open_status::foreign ? mode::foreign : mode::unusable;
    retry_at_ = steady::now() + open_every;
    condition_.no_use(result.what);
}

open_result embedded_writer::open_file() {
    close_file();
    open_result result = open_embedded_file(db_, options_.path);
    if (result.status != open_status::ok) return result;
    int code = rows_.prepare(db_);
    if (code == SQLITE_OK) code = coordination_.prepare(db_);
    if (code == SQLITE_OK) code = ledger_.prepare(db_);
    if (code == SQLITE_OK) code = begin_.prepare(db_, "BEGIN IMMEDIATE");
    if (code == SQLITE_OK) code = commit_.prepare(db_, "COMMIT");
    if (code == SQLITE_OK) code = rows_.newest(last_seq_);
    if (code != SQLITE_OK)
        return {classify(code) == sqlite_fault::corrupt ? open_status::corrupt : open_status::unusable,
                "cannot use the file: " + db_.message()};
    inode_ = embedded_inode(options_.path);
    presence_.begin(options_.path);
    filled_to_ = {};
    counting_ = presence_.filling();
    counted_to_ = last_seq_;
    counters_.entries.store(0, std::memory_order_relaxed);
    return result;
}

bool embedded_writer::may_replace() const {
    return last_replaced_ == steady::time_point{} || steady::now() - last_replaced_ > replace_every;
}

void embedded_writer::close_file() noexcept {
    generation_.store(0, std::memory_order_release);
    presence_.end();
    rows_.finalize();
    coordination_.finalize();
    ledger_.finalize();
    ledger_recount_ = 0;
    begin_.finalize();
    commit_.finalize();
    db_.close();
}

void embedded_writer::run() {
    steady::time_point rest{};
    while (!queue_.drained()) {
        const bool waits_to_retry = mode_ == mode::suspended || mode_ == mode::unusable;
        const auto until = presence_.filling() ? steady::now()
                           : waits_to_retry    ? std::min(retry_at_, upkeep_at_)
                                               : upkeep_at_;
        std::vector<write_job> jobs = queue_.take(group_jobs, group_bytes, until, rest);
        const bool idle = jobs.empty();
        if (!idle) {
            rest = steady::now() + group_every;
            write(std::move(jobs));
        }
        if (presence_.filling()) fill_presence();
        if (waits_to_retry && steady::now() >= retry_at_) try_again();
        if (steady::now() >= upkeep_at_ + (idle ? 0s : busy_upkeep)) upkeep();
    }
    close_file();
}

void embedded_writer::write(std::vector<write_job> jobs) {
    for (auto& job : jobs) {
        if (const auto* damage = std::get_if<damage_job>(&job)) {
            if (damage->generation == generation()) replace_file();
        } else if (auto* put = std::get_if<put_job>(&job)) {
            put->blob = encode_stored(*put->value, options_.compress, options_.reading.keys.get());
        }
    }
    // Records are few and must survive the machine: a transaction of their own, synced.
    const auto entries = std::partition(
        jobs.begin(), jobs.end(), [](const write_job& job) { return std::holds_alternative<record_write_job>(job); });
    if (entries != jobs.begin()) write_group({jobs.begin(), entries}, true);
    if (entries != jobs.end()) write_group({entries, jobs.end()}, false);
}

void embedded_writer::write_group(std::span<write_job> jobs, bool synced) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (mode_ != mode::open) break;
        int code = synced ? db_.execute("PRAGMA synchronous=FULL") : SQLITE_OK;
        if (code == SQLITE_OK) code = transact(jobs);
        // Back in any case; if that fails entries are synced too, which costs time and nothing else.
        if (synced && db_.is_open()) (void)db_.execute("PRAGMA synchronous=NORMAL");
        if (code == SQLITE_OK) return deliver(jobs);
        if (classify(code) == sqlite_fault::busy) return fail(jobs, reason::store_timeout);
        if (mode_ == mode::open) trouble(code);
    }
    fail(jobs, reason::store_unavailable);
}

int embedded_writer::transact(std::span<write_job> jobs) {
    std::int64_t pages = 0;
    for (const auto& job : jobs)
        if (const auto* put = std::get_if<put_job>(&job))
            pages += static_cast<std::int64_t>(put->blob.size()) / page_bytes + 2;
    int code = begin();
    if (code == SQLITE_OK) code = make_room(pages);
    for (auto job = jobs.begin(); code == SQLITE_OK && job != jobs.end(); ++job) code = apply(*job);
    if (code == SQLITE_OK) code = commit();
    if (db_.in_transaction()) (void)db_.execute("ROLLBACK");
    return code;
}

int embedded_writer::begin() {
    {
        const sqlite_use statement(begin_);
        if (const int code = statement->run(); code != SQLITE_OK) return code;
    }
    total_changes_ = db_.total_changes();
    return presence_.others_wrote() ? hear_of_others() : SQLITE_OK;
}

int embedded_writer::commit() {
    const sqlite_use statement(commit_);
    const int code = statement->run();
    if (code == SQLITE_OK) presence_.committed(db_.total_changes() != total_changes_);
    return code;
}

// Another process has written since our last transaction; ours holds the lock now.
int embedded_writer::hear_of_others() {
    std::int64_t version = 0, newest = 0;
    int code = db_.query("PRAGMA user_version", version);
    if (code == SQLITE_OK && version > embedded_schema) {
        close_file();
        mode_ = mode::foreign;
        condition_.no_use("a newer Idem has taken the file over");
        return SQLITE_ABORT;
    }
    if (code == SQLITE_OK) code = rows_.newest(newest);
    if (code != SQLITE_OK) return code;
    if (newest < last_seq_) {
        // The newest row is gone and the clock may have been set back: places say nothing about what is new.
        presence_.refill();
        filled_to_ = {};
    }
    code = rows_.since(last_seq_, [this](const cache_key& key) { presence_.add(key); });
    last_seq_ = std::max(last_seq_, newest);
    return code;
}

int embedded_writer::apply(write_job& job) {
    return std::visit(
        overloaded{
            [this](put_job& put) {
                const bool too_large = put.blob.empty() || put.value->body.size() > options_.reading.body_cap ||
                                       put.blob.size() > options_.size / 4;
                if (too_large) {
                    put.result = {put_status::refused, nullptr, reason::entry_too_large};
                    return SQLITE_OK;
                }
                presence_.add(put.value->key);
                return rows_.put(*put.value, put.blob, put.replaces, put.now, options_.reading, next_seq(), put.result);
            },
            [this](erase_job& erase) { return rows_.erase(erase.key, erase.result); },
            [this](bind_job& bind) { return rows_.bind(bind.wanted, bind.now, bind.result); },
            [this](record_write_job& put) {
                return coordination_.write(put.name, put.value, put.expected, put.result);
            },
            [this](lease_job& job) {
                job.result = {};
                return job.length.count() == 0
                           ? coordination_.release(job.name, job.holder, job.settled, unix_now(), job.result)
                           : coordination_.lease(job.name, job.holder, job.length.count(), unix_now(), job.result);
            },
            [this](ledger_job& job) {
                job.result.written = true;
                return ledger_.note(job.fill, job.result.with_before);
            },
            [this](expire_job& expire) {
                std::uint64_t gone = 0;
                const int code = rows_.expire(expire.key, expire.now, gone);
                counters_.expired.fetch_add(gone, std::memory_order_relaxed);
                counters_.entries.fetch_sub(static_cast<std::int64_t>(gone), std::memory_order_relaxed);
                return code;
            },
            [](damage_job&) { return SQLITE_OK; },
            [this](scrub_job&) {
                scrubbing_ = true;
                upkeep_at_ = steady::now();
                return SQLITE_OK;
            },
        },
        job);
}

void embedded_writer::deliver(std::span<write_job> jobs) {
    for (auto& job : jobs) {
        std::visit(overloaded{
                       [this](put_job& put) {
                           auto& counter = put.result.status == put_status::stored ? counters_.stored
                                           : put.result.status == put_status::lost ? counters_.lost
                                                                                   : counters_.refused;
                           counter.fetch_add(1, std::memory_order_relaxed);
                           if (put.result.status == put_status::stored)
                               counters_.entries.fetch_add(1, std::memory_order_relaxed);
                           put.answer->deliver(std::move(put.result));
                       },
                       [this](erase_job& erase) {
                           if (erase.result == erase_status::erased)
                               counters_.entries.fetch_sub(1, std::memory_order_relaxed);
                           erase.answer->deliver(erase.result);
                       },
                       [](bind_job& bind) { bind.answer->deliver(bind.result); },
                       [](record_write_job& put) { put.answer->deliver(std::move(put.result)); },
                       [](lease_job& job) { job.answer->deliver(job.result); },
                       [](ledger_job& job) { job.answer->deliver(job.result); },
                       [](auto&) {},
                   },
                   job);
    }
}

void embedded_writer::fail(std::span<write_job> jobs, reason why) {
    for (auto& job : jobs) {
        std::visit(overloaded{
                       [&](put_job& put) {
                           counters_.failed_writes.fetch_add(1, std::memory_order_relaxed);
                           put.answer->deliver({put_status::failed, nullptr, why});
                       },
                       [&](erase_job& erase) {
                           counters_.failed_writes.fetch_add(1, std::memory_order_relaxed);
                           erase.answer->deliver(erase_status::failed);
                       },
                       [&](bind_job& bind) {
                           counters_.failed_writes.fetch_add(1, std::memory_order_relaxed);
                           bind.answer->deliver({false, {}, why});
                       },
                       [&](record_write_job& put) {
                           counters_.failed_writes.fetch_add(1, std::memory_order_relaxed);
                           put.answer->deliver({record_status::failed, {}, 0, why});
                       },
                       [&](lease_job& job) {
                           counters_.failed_writes.fetch_add(1, std::memory_order_relaxed);
                           job.answer->deliver({.status = lease_status::failed, .why = why});
                       },
                       [&](ledger_job& job) { job.answer->deliver({false, why}); },
                       [](auto&) {},
                   },
                   job);
    }
}

void embedded_writer::trouble(int code) {
    const sqlite_fault fault = classify(code);
    if (fault == sqlite_fault::corrupt) return replace_file();
    mode_ = mode::suspended;
    retry_at_ = steady::now() + trial_every;
    condition_.no_writing(std::string(to_string(fault)) + ": " + db_.message());
}

// The jobs that met the damage are written to the new file; nothing but the broken file's content is lost, and that is
// kept for whoever wants to recover it.
void embedded_writer::replace_file() {
    if (!may_replace()) {
        close_file();
        mode_ = mode::unusable;
        retry_at_ = steady::now() + replace_every;
        return condition_.no_use("the file is damaged again, shortly after a new one was begun");
    }
    last_replaced_ = steady::now();
    close_file();
    const std::string said = set_aside(options_.path, inode_, unix_now() / 1000);
    condition_.say("the file is damaged" + (said.empty() ? "" : "; " + said));
    open();
}

void embedded_writer::try_again() {
    if (mode_ == mode::unusable) return open();
    if (mode_ != mode::suspended) return;
    // As large as a group of entries, so that a disk with a few free blocks does not make the store flap.
    const int code = db_.execute(
        "BEGIN IMMEDIATE; INSERT OR REPLACE INTO probe VALUES(1,zeroblob(1048576)); COMMIT; DELETE FROM probe");
    if (db_.in_transaction()) (void)db_.execute("ROLLBACK");
    switch (classify(code)) {
        case sqlite_fault::none:
            mode_ = mode::open;
            return condition_.good();
        case sqlite_fault::corrupt:
            return replace_file();
        case sqlite_fault::other:
            return open();
        default:
            retry_at_ = steady::now() + trial_every;
    }
}

std::int64_t embedded_writer::next_seq() noexcept {
    last_seq_ = std::max(last_seq_ + 1, unix_microseconds());
    return last_seq_;
}

}  // namespace idem::cache
