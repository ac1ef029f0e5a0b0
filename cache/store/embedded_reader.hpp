#pragma once
// Look-ups in the embedded store, on a few threads of their own, each with its connection: reading waits for no writer
// (write-ahead log), and a slow disk stalls no I/O thread.
#include <memory>
#include <string>
#include <variant>

#include "cache/store/embedded_coordination.hpp"
#include "cache/store/embedded_listing.hpp"
#include "cache/store/embedded_rows.hpp"
#include "cache/store/embedded_shared.hpp"
#include "cache/store/embedded_writer.hpp"
#include "cache/store/job_queue.hpp"
#include "cache/store/pending.hpp"

namespace idem::cache {

struct find_job {
    cache_key key;
    unix_ms now;
    std::shared_ptr<pending<lookup>> answer;
};
struct record_job {
    std::string name;
    std::shared_ptr<pending<record_result>> answer;
};
struct ledger_page_job {
    std::string from;
    std::shared_ptr<pending<ledger_page>> answer;
};
struct list_job {
    std::string from;
    std::size_t most;
    std::shared_ptr<pending<entry_page>> answer;
};
using read_job = std::variant<find_job, record_job, ledger_page_job, list_job>;
using read_queue = job_queue<read_job>;

/// One thread's side. Dies with its thread.
class embedded_reader {
public:
    embedded_reader(const embedded_options& options, read_queue& queue, embedded_writer& writer,
                    embedded_counters& counters, recent_use& recent)
        : options_(options), queue_(queue), writer_(writer), counters_(counters), recent_(recent) {}
    /// The thread's body: until the queue is closed and empty.
    void run();

private:
    [[nodiscard]] lookup answer(const find_job& job);
    [[nodiscard]] record_result answer(const record_job& job);
    [[nodiscard]] ledger_page answer(const ledger_page_job& job);
    [[nodiscard]] entry_page answer(const list_job& job);
    /// Counts and, where the file is damaged, reports it.
    [[nodiscard]] reason failed(int code);
    [[nodiscard]] int current_file();

    const embedded_options& options_;
    read_queue& queue_;
    embedded_writer& writer_;
    embedded_counters& counters_;
    recent_use& recent_;
    sqlite_connection db_;
    entry_finder finder_;
    record_reader records_;
    ledger_page_reader ledger_;
    entry_lister lister_;
    std::uint64_t generation_ = 0;
};

}  // namespace idem::cache
