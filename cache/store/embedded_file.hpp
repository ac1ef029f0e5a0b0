#pragma once
// The file of the embedded store: where it may lie, whose it is, how it is made, and how a broken one is set aside. No
// threads, no Asio; called by whichever thread owns the connection.
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/store/sqlite.hpp"

namespace idem::cache {

inline constexpr std::int64_t embedded_application = 0x4964656d;  // "Idem", SQLite's application_id
inline constexpr std::int64_t embedded_schema = 4;  // SQLite's user_version; 2 has bindings, 3 records, 4 a ledger
inline constexpr int embedded_busy_ms = 400;        // longest wait for another process

enum class open_status : std::uint8_t {
    ok,
    unusable,  // try again later: directory, permissions, device, lock
    corrupt,   // damaged: set it aside
    foreign,   // of a newer Idem or of another program: leave it alone
};
struct open_result {
    open_status status = open_status::ok;
    std::string what;  // for people, where not ok
};

[[nodiscard]] std::string embedded_path(const std::string& directory);

/// Name of a network file system, by its number in statfs(2); empty for a local one. FUSE counts as one: it hides what
/// is behind it.
[[nodiscard]] std::string_view network_file_system(std::uint64_t magic) noexcept;
/// The same for the nearest existing parent of `path`.
[[nodiscard]] std::string_view network_file_system_at(const std::string& path);

/// Makes directory and file where absent and opens for writing.
[[nodiscard]] open_result open_embedded_file(sqlite_connection& db, const std::string& directory);
/// Opens one more connection to a file that is open already.
[[nodiscard]] int open_embedded_reader(sqlite_connection& db, const std::string& directory);

/// Renames the file and its log so that they can still be examined together. `inode` is that of the file found broken;
/// if another process has set it aside already, nothing is done. Returns what to tell people; empty where nothing was
/// done.
[[nodiscard]] std::string set_aside(const std::string& directory, std::uint64_t inode, std::int64_t unix_seconds);
/// 0 if there is no file.
[[nodiscard]] std::uint64_t embedded_inode(const std::string& directory) noexcept;

}  // namespace idem::cache
