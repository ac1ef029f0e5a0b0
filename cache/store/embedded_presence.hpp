#pragma once
// Answers "surely absent" on the I/O thread, without asking the database: most look-ups of the second tier are misses,
// and a hop to a reader thread is what a miss would pay for. "Absent" must be as true as the database's own answer,
// with other processes writing to the same file. Three things have to agree:
//
//   the filter   holds every key written up to the last mark (the writer adds keys before it commits them)
//   the mark     of the last commit that the filter knows of
//   the watch    the mark that is in the file's shared memory now; any process's commit changes it
//
// The watch reads the header of SQLite's wal-index, whose layout is published
// (https://www.sqlite.org/walformat.html, 2.2): the change counter at byte 8, raised by one with each commit, and the
// checksum of the last frame at byte 24. It is believed only after a commit of our own has raised it by exactly one.
//
// surely_absent() from any thread; all else from the writer's. Where anything is in doubt the answer is "not surely".
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/store/key_filter.hpp"
#include "cache/store/sqlite.hpp"

namespace idem::cache {

class embedded_presence {
public:
    explicit embedded_presence(std::uint64_t store_bytes);

    [[nodiscard]] bool surely_absent(const cache_key& key) const noexcept;

    /// A file has been opened, or the filter is to be filled anew: "not surely" until filled().
    void begin(const std::string& directory);
    void refill() noexcept;
    /// No file.
    void end() noexcept;
    void add(const cache_key& key) noexcept;
    /// All keys that were in the file at begin() have been added.
    void filled() noexcept;
    [[nodiscard]] bool filling() const noexcept { return filling_; }
    /// So many keys have gone again that the filter says "perhaps" too often.
    [[nodiscard]] bool worn() const noexcept;

    /// Inside a write transaction, before any change: whether another process has committed since the last mark. Its
    /// keys are to be added before committed().
    [[nodiscard]] bool others_wrote() noexcept;
    /// After the commit; `changed` says whether there was anything to commit.
    void committed(bool changed) noexcept;

private:
    // Change counter in the upper half, frame checksum in the lower.
    using mark = std::uint64_t;
    static constexpr mark unknown = 0;
    [[nodiscard]] mark watch() const noexcept;
    void distrust() noexcept;

    key_filter filter_;
    std::atomic<const volatile std::uint32_t*> header_{nullptr};
    std::atomic<mark> known_{unknown};
    // Odd while the filter must not be believed; a reader that sees it change discards what it read.
    std::atomic<std::uint64_t> version_{1};

    mark at_begin_ = unknown;
    bool filling_ = false, full_ = false, proven_ = false;
    std::size_t added_ = 0;
    // Keep the shared memory mapped for readers that are just looking; closed with this object.
    std::vector<sqlite_connection> anchors_;
};

}  // namespace idem::cache
