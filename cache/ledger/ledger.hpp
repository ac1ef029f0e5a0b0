#pragma once
// The ledger of a store: every complete and good answer that a cacheable call was computed with leaves a record, which
// is kept for `cache.ledger` whatever becomes of the entry (lifetime, eviction, purge, erase). Written beside the
// answer's way, never on it: who notes a fill spawns that, and nothing waits for it.
//
// All calls come from I/O threads and complete on the thread that called, within the store's deadline.
#include <cstddef>
#include <string>
#include <vector>

#include "cache/ledger/record.hpp"
#include "upstream/net/net.hpp"

namespace idem::cache {

struct noted {
    bool written = false;
    reason why = reason::none;  // why not; overloaded: the queue was full, and the record is lost
    /// Between this fill and what was known of its request.
    upstream::determinism::contrast with_before = upstream::determinism::contrast::same;
};

struct ledger_page {
    std::vector<ledger_record> records;  // each request's together, and whole
    std::string next;                    // where the next page begins; empty: this was the last
    reason why = reason::none;           // set: it could not be read
};

class ledger {
public:
    virtual ~ledger() = default;
    /// The ledger is on: its lifetime is not 0.
    [[nodiscard]] virtual bool keeps_ledger() const noexcept = 0;
    [[nodiscard]] virtual upstream::net::task<noted> note(ledger_record fill) = 0;
    /// A part of the ledger, for who reads all of it. `from`: empty, or a page's `next`. While it is read it changes:
    /// a record that is there all the time is given at least once.
    [[nodiscard]] virtual upstream::net::task<ledger_page> read_ledger(std::string from) = 0;
};

}  // namespace idem::cache
