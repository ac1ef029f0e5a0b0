#include "cache/store/embedded_presence.hpp"

#include <algorithm>

#include "cache/store/embedded_file.hpp"

namespace idem::cache {
namespace {

constexpr std::uint64_t bytes_per_entry = 2048;
constexpr std::size_t most_expected = std::size_t{1} << 25;
constexpr std::uint32_t wal_index_version = 3007000;
constexpr int wal_index_region = 32 * 1024;
constexpr std::size_t version_word = 0, change_word = 2, checksum_word = 6;

// Shared memory that SQLite, and other processes, write by plain stores: a torn pair equals no known mark, so the worst
// is one needless question to the database. The sanitizer cannot know that.
__attribute__((no_sanitize("thread"))) std::uint64_t read_mark(const volatile std::uint32_t* header) noexcept {
    return std::uint64_t{header[change_word]} << 32 | header[checksum_word];
}
__attribute__((no_sanitize("thread"))) std::uint32_t read_version(const volatile std::uint32_t* header) noexcept {
    return header[version_word];
}

const volatile std::uint32_t* map_header(const sqlite_connection& db) noexcept {
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(db.get(), "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file)) != SQLITE_OK)
        return nullptr;
    if (file == nullptr || file->pMethods == nullptr || file->pMethods->iVersion < 2) return nullptr;
    void volatile* region = nullptr;
    if (file->pMethods->xShmMap(file, 0, wal_index_region, 0, &region) != SQLITE_OK) return nullptr;
    return static_cast<const volatile std::uint32_t*>(region);
}

}  // namespace

embedded_presence::embedded_presence(std::uint64_t store_bytes)
    : filter_(std::min<std::size_t>(store_bytes / bytes_per_entry, most_expected)) {}

bool embedded_presence::surely_absent(const cache_key& key) const noexcept {
    const std::uint64_t version = version_.load(std::memory_order_acquire);
    if ((version & 1) != 0) return false;
    // The mark before the filter: keys of a known commit were added before the commit was known.
    const mark known = known_.load(std::memory_order_acquire);
    if (known == unknown || watch() != known) return false;
    if (filter_.may_hold(key)) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    return version_.load(std::memory_order_relaxed) == version;
}

embedded_presence::mark embedded_presence::watch() const noexcept {
    const auto* const header = header_.load(std::memory_order_acquire);
    return header != nullptr ? read_mark(header) : unknown;
}

void embedded_presence::distrust() noexcept {
    version_.store(version_.load(std::memory_order_relaxed) | 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    known_.store(unknown, std::memory_order_relaxed);
}

void embedded_presence::begin(const std::string& directory) {
    end();
    sqlite_connection anchor;
    std::int64_t ignored = 0;
    if (open_embedded_reader(anchor, directory) != SQLITE_OK) return;
    // Reading makes the connection open the log and its index.
    if (anchor.query("SELECT count(*) FROM leases", ignored) != SQLITE_OK) return;
    const auto* const header = map_header(anchor);
    if (header == nullptr || read_version(header) != wal_index_version) return;
    anchors_.push_back(std::move(anchor));
    header_.store(header, std::memory_order_release);
    refill();
}

void embedded_presence::refill() noexcept {
    distrust();
    filter_.clear();
    added_ = 0;
    full_ = false;
    filling_ = header_.load(std::memory_order_relaxed) != nullptr;
}

void embedded_presence::end() noexcept {
    distrust();
    header_.store(nullptr, std::memory_order_release);
    filling_ = full_ = proven_ = false;
}

void embedded_presence::add(const cache_key& key) noexcept {
    filter_.add(key);
    ++added_;
}

void embedded_presence::filled() noexcept {
    filling_ = false;
    full_ = true;
    version_.store((version_.load(std::memory_order_relaxed) | 1) + 1, std::memory_order_release);
}

bool embedded_presence::worn() const noexcept {
    return full_ && added_ > filter_.expected() + filter_.expected() / 2;
}

bool embedded_presence::others_wrote() noexcept {
    at_begin_ = watch();
    return at_begin_ != known_.load(std::memory_order_relaxed);
}

void embedded_presence::committed(bool changed) noexcept {
    const mark now = watch();
    const auto commits = static_cast<std::uint32_t>(now >> 32) - static_cast<std::uint32_t>(at_begin_ >> 32);
    if (changed && commits == 1) proven_ = true;
    // Not ours alone, or not what we take it for: unknown until the next transaction has looked.
    const bool ours = changed ? commits == 1 : now == at_begin_;
    known_.store(ours && proven_ ? now : unknown, std::memory_order_release);
    if (changed && commits == 0) end();
}

}  // namespace idem::cache
