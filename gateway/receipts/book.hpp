#pragma once
// The book of receipts of one gateway: signs a receipt of every answer that is stored under a policy with `receipts`,
// keeps it, and writes down in a hash chain what was issued and what was served. One thread of its own does all of
// that; whoever hands something over never waits. Where its queue is full, or the disk fails, the answer is served all
// the same and the chain says how many records it lacks (a `gap` line).
//
// issue(), served() and find() from any thread, until close().
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "cache/entry/entry.hpp"
#include "cache/store/job_queue.hpp"
#include "cache/store/pending.hpp"
#include "gateway/receipts/chain_file.hpp"
#include "gateway/receipts/keys.hpp"
#include "gateway/receipts/statement.hpp"
#include "gateway/receipts/store.hpp"
#include "upstream/net/net.hpp"

namespace idem::gateway::receipts {

struct book_options {
    std::string directory;  // of everything but the key
    std::string key_file;
    digest configuration;
    std::chrono::milliseconds interval{60'000};  // of signed heads
    std::chrono::milliseconds keep{0};           // of receipts; 0: for ever
    /// The second sink: takes one signed head, without a line end, on the book's thread. False: it could not; the next
    /// head says all that this one did.
    std::function<bool(const std::string&)> sink;
    std::function<void(std::string_view)> log;  // any thread
};

/// One answer that was given.
struct serve_record {
    cache::entry_ptr answer;
    std::array<char, 32> request_id{};  // zeros behind it
    std::string_view policy;            // lives as long as the configuration
    outcome what = outcome::hit;
    bool aborted = false;  // the client left before its end
    std::int64_t at = 0;   // Unix milliseconds
};

struct book_counters {
    std::uint64_t issued = 0, served = 0, lost = 0, heads = 0, heads_failed = 0;
};

class book {
public:
    /// Reads or makes the key, opens the chain. Null with a sentence in `error`.
    [[nodiscard]] static std::unique_ptr<book> open(book_options options, std::string& error);
    ~book();
    book(const book&) = delete;
    book& operator=(const book&) = delete;

    void issue(cache::entry_ptr answer, circumstances about);
    void served(serve_record record);
    /// The receipt of that fill; with zeros the youngest of the key. Empty: there is none, or not within a second.
    [[nodiscard]] upstream::net::task<std::string> find(cache::cache_key key, id128 fill);
    /// Writes what is queued, closes the chain, hands out a last head. Once; waits for it.
    void close();

    [[nodiscard]] book_counters counters() const noexcept;
    [[nodiscard]] const std::string& signer() const noexcept { return key_.id(); }

private:
    struct issue_job {
        cache::entry_ptr answer;
        circumstances about;
    };
    struct find_job {
        cache::cache_key key;
        id128 fill;
        std::shared_ptr<cache::pending<std::string>> answer;
    };
    using job = std::variant<issue_job, serve_record, find_job>;

    book(book_options options, signing_key key);
    void run();
    void work(std::vector<job> jobs);
    [[nodiscard]] std::string issue_now(const issue_job& j);
    /// False: it could not be written; the records are counted as lost.
    bool append(std::vector<std::string> bodies);
    void send_head();
    void lost(std::uint64_t records) noexcept;
    void roll();
    void say(std::string_view line) const;

    const book_options options_;
    const signing_key key_;
    receipt_store store_;
    chain_file chain_;
    cache::job_queue<job> queue_;
    std::atomic<std::uint64_t> unwritten_gap_{0};  // records that the chain does not say yet that it lacks
    std::atomic<std::uint64_t> issued_{0}, served_{0}, lost_{0}, heads_{0}, heads_failed_{0};
    std::uint64_t head_at_ = 0;  // lines of the last head that was taken
    bool troubled_ = false, heads_troubled_ = false;
    std::thread thread_;
};

}  // namespace idem::gateway::receipts
