#pragma once
// The embedded second tier: SQLite in one directory of a local file system, write-ahead log, no server. An answer that
// was acknowledged survives the death of the process (not always of the machine: entries are not synced one by one;
// epochs and records are). Several processes of one host may share the directory.
//
// DIRECTORY/idem.db (with -wal and -shm beside it while open) can be read with the sqlite3 shell at any time:
//
//   sqlite3 -readonly idem-data/idem.db 'SELECT * FROM readable LIMIT 10'
//
// columns key (hex), created, fresh_until, keep_until (UTC), model, upstream, route, format, size. The bytes themselves
// are entries.blob, laid out as cache/entry/layout.hpp says. Tables bindings, records and leases hold what their names
// say; ledger is described in cache/ledger/. It takes at most a sixteenth of the file: beyond that the records seen
// longest ago go.
//
// Trouble never reaches a client. Where the file cannot be used the store says so once (log, stats().state, healthy
// false), answers every call with a reason at once, and counts what it could not keep:
//   disk full, read-only   writing is tried again every second and resumes by itself; reading goes on
//   cannot be opened       opening is tried again every two seconds
//   corrupt                set aside as idem.db.corrupt-TIME with its log, and a new file is begun
//   written by a newer Idem, or not by Idem at all     left alone until the next start
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cache/entry/sealed.hpp"
#include "cache/store/store.hpp"

namespace idem::cache {

struct embedded_options {
    std::string path = "idem-data";  // directory; made (0700) if absent
    std::uint64_t size = std::uint64_t{4}
                         << 30;  // bytes of the file; least recently useful entries go. The log adds up to 16 MiB
    entry_reading reading{4 << 20, nullptr};  // largest body; keys
    compression compress = compression::zstd;
    std::chrono::milliseconds ledger{0};           // lifetime of its records; 0: there is none
    std::chrono::milliseconds deadline{500};       // of each call, whole
    std::size_t queue_bytes = 64 << 20;            // entries waiting to be written; beyond: refused
    unsigned readers = 2;                          // threads
    std::chrono::milliseconds close_within{5000};  // a disk that hangs cannot hang the shutdown for longer
    /// Called from any thread, one line a call; not after close() has returned. Must not call the store.
    std::function<void(std::string_view)> log;
};

/// Null, with the reason in `error`, only for what no waiting can mend: an empty path, a size below 1 MiB, a network
/// file system (SQLite's locks and shared memory need one kernel: https://www.sqlite.org/wal.html). Every other trouble
/// gives a store that says what is wrong and goes on trying.
[[nodiscard]] std::unique_ptr<store> open_embedded(embedded_options options, std::string& error);

}  // namespace idem::cache
