#include "cache/store/embedded_reader.hpp"

#include "cache/store/embedded_file.hpp"

namespace idem::cache {

void embedded_reader::run() {
    while (!queue_.drained()) {
        // One at a time: the next may be another thread's.
        for (const read_job& job : queue_.take(1, 1, std::chrono::steady_clock::time_point::max())) {
            const auto serve = [this](const auto& what) {
                if (!what.answer->abandoned()) what.answer->deliver(answer(what));
            };
            std::visit(serve, job);
        }
    }
    finder_.finalize();
    records_.finalize();
    ledger_.finalize();
    lister_.finalize();
    db_.close();
}

reason embedded_reader::failed(int code) {
    counters_.failed_reads.fetch_add(1, std::memory_order_relaxed);
    const sqlite_fault fault = classify(code);
    // Where the queue is full the next look-up reports the damage.
    if (fault == sqlite_fault::corrupt) (void)writer_.push(damage_job{generation_}, 0);
    return fault == sqlite_fault::busy ? reason::store_timeout : reason::store_unavailable;
}

record_result embedded_reader::answer(const record_job& job) {
    record_result found;
    int code = current_file();
    if (code == SQLITE_OK) code = records_.read(job.name, found);
    if (code == SQLITE_OK) return found;
    return {record_status::failed, {}, 0, failed(code)};
}

ledger_page embedded_reader::answer(const ledger_page_job& job) {
    ledger_page page;
    int code = current_file();
    if (code == SQLITE_OK) code = ledger_.read(job.from, page);
    if (code == SQLITE_OK) return page;
    ledger_page none;
    none.why = failed(code);
    return none;
}

entry_page embedded_reader::answer(const list_job& job) {
    entry_page page;
    int code = current_file();
    if (code == SQLITE_OK) code = lister_.read(job.from, job.most, options_.reading, page);
    if (code == SQLITE_OK) return page;
    entry_page none;
    none.why = failed(code);
    return none;
}

lookup embedded_reader::answer(const find_job& job) {
    found_row row;
    int code = current_file();
    if (code == SQLITE_OK) code = finder_.find(job.key, job.now, options_.reading, row);
    if (code != SQLITE_OK) {
        lookup none;
        none.status = lookup_status::failed;
        none.why = failed(code);
        return none;
    }
    if (row.expired) (void)writer_.push(expire_job{job.key, job.now}, 0);
    if (row.result.status == lookup_status::found) recent_.note(row.seq);
    return std::move(row.result);
}

int embedded_reader::current_file() {
    const std::uint64_t now = writer_.generation();
    if (now != 0 && now == generation_) return SQLITE_OK;
    finder_.finalize();
    records_.finalize();
    ledger_.finalize();
    lister_.finalize();
    db_.close();
    generation_ = now;
    if (now == 0) return SQLITE_CANTOPEN;
    int code = open_embedded_reader(db_, options_.path);
    if (code == SQLITE_OK) code = finder_.prepare(db_);
    if (code == SQLITE_OK) code = records_.prepare(db_);
    if (code == SQLITE_OK) code = ledger_.prepare(db_);
    if (code == SQLITE_OK) code = lister_.prepare(db_);
    if (code != SQLITE_OK) generation_ = 0;
    return code;
}

}  // namespace idem::cache
