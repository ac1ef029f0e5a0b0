#include "cache/store/embedded_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "cache/ledger/ledger_rows.hpp"

namespace idem::cache {
namespace {

namespace fs = std::filesystem;

// Small columns stand before the blob: reading them does not touch the pages it spills into.
// seq is the microsecond of insertion, made unique: oldest first is the order of eviction.
constexpr const char* schema =
    "CREATE TABLE entries("
    "seq INTEGER PRIMARY KEY,"
    "key BLOB NOT NULL UNIQUE,"
    "fill BLOB NOT NULL,"
    "format INTEGER NOT NULL,"
    "created INTEGER NOT NULL,"
    "fresh_until INTEGER NOT NULL,"
    "keep_until INTEGER NOT NULL,"
    "model TEXT NOT NULL,"
    "upstream TEXT NOT NULL,"
    "route TEXT NOT NULL,"
    "scope_tag TEXT NOT NULL,"
    "blob BLOB NOT NULL);"
    "CREATE TABLE epochs("
    "upstream TEXT PRIMARY KEY,"
    "id BLOB NOT NULL,"
    "environment BLOB NOT NULL,"
    "created INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE probe(id INTEGER PRIMARY KEY, filler BLOB);"
    "CREATE VIEW readable AS SELECT lower(hex(key)) AS key,"
    "datetime(created/1000,'unixepoch') AS created,"
    "datetime(fresh_until/1000,'unixepoch') AS fresh_until,"
    "datetime(keep_until/1000,'unixepoch') AS keep_until,"
    "model, upstream, route, format, length(blob) AS size FROM entries;";

// Since schema 2.
constexpr const char* bindings =
    "CREATE TABLE bindings(name BLOB PRIMARY KEY, value BLOB NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX bindings_until ON bindings(until);";

// Since schema 3. A lease's `next` is who asked first while it was held. Epochs are records from here on, laid out as
// cache/state/epoch_records.hpp says.
constexpr const char* coordination =
    "CREATE TABLE records(name TEXT PRIMARY KEY, version INTEGER NOT NULL, value BLOB NOT NULL);"
    "CREATE TABLE leases(name TEXT PRIMARY KEY, holder BLOB NOT NULL, next BLOB, until INTEGER NOT NULL) WITHOUT "
    "ROWID;"
    "INSERT INTO records SELECT 'epoch/' || upstream, 1,"
    "CAST('idem-epoch 1 ' || lower(hex(id)) || ' ' || lower(hex(environment)) AS BLOB) FROM epochs;"
    "DROP TABLE epochs;";

// Held while the file is made, judged or set aside, so that two processes do not do it at once. Without it where the
// directory is read-only: then nothing is made.
class directory_lock {
public:
    explicit directory_lock(const std::string& directory)
        : file_(::open((directory + "/idem.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        for (int i = 0; file_ >= 0 && i < 100; ++i) {
            if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
            ::usleep(10'000);
        }
    }
    ~directory_lock() {
        if (file_ >= 0) ::close(file_);
    }
    directory_lock(const directory_lock&) = delete;
    directory_lock& operator=(const directory_lock&) = delete;

private:
    int file_;
};

open_result failed(const sqlite_connection& db, int code, std::string_view doing) {
    const sqlite_fault fault = classify(code);
    return {fault == sqlite_fault::corrupt ? open_status::corrupt : open_status::unusable,
            std::string(doing) + ": " + db.message()};
}

// O_EXCL, and never a second descriptor on an existing file: closing one would drop this process's POSIX locks on it,
// which are SQLite's (https://www.sqlite.org/howtocorrupt.html, 2.2).
open_result make_file(const std::string& directory) {
    std::error_code ec;
    if (!fs::exists(directory, ec)) {
        fs::create_directories(directory, ec);
        if (ec) return {open_status::unusable, "cannot make " + directory + ": " + ec.message()};
        ::chmod(directory.c_str(), 0700);
    }
    const std::string path = embedded_path(directory);
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        ::close(file);
        return {};
    }
    if (errno == EEXIST) return {};
    return {open_status::unusable, "cannot make " + path + ": " + std::strerror(errno)};
}

// Ends what was begun: as of this schema if `code` is good, else as if nothing had been tried.
open_result conclude(sqlite_connection& db, int code, std::string_view doing) {
    const std::string mark = "PRAGMA application_id=" + std::to_string(embedded_application) +
                             "; PRAGMA user_version=" + std::to_string(embedded_schema) + "; COMMIT";
    if (code == SQLITE_OK) code = db.execute(mark.c_str());
    if (code == SQLITE_OK) return {};
    open_result result = failed(db, code, doing);
    if (db.in_transaction()) (void)db.execute("ROLLBACK");
    return result;
}

open_result create_schema(sqlite_connection& db) {
    // auto_vacuum takes effect only before the first page is written.
    int code = db.execute("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL");
    if (code != SQLITE_OK) return failed(db, code, "cannot begin a file");
    code = db.execute("BEGIN IMMEDIATE");
    if (code == SQLITE_OK) code = db.execute(schema);
    if (code == SQLITE_OK) code = db.execute(bindings);
    if (code == SQLITE_OK) code = db.execute(coordination);
    if (code == SQLITE_OK) code = db.execute(ledger_schema);
    return conclude(db, code, "cannot begin a file");
}

// From an older schema; another process may have done it meanwhile.
open_result bring_up(sqlite_connection& db) {
    int code = db.execute("BEGIN IMMEDIATE");
    std::int64_t version = 0;
    if (code == SQLITE_OK) code = db.query("PRAGMA user_version", version);
    if (code == SQLITE_OK && version < 2) code = db.execute(bindings);
    if (code == SQLITE_OK && version < 3) code = db.execute(coordination);
    if (code == SQLITE_OK && version < 4) code = db.execute(ledger_schema);
    return conclude(db, code, "cannot bring the file to schema " + std::to_string(embedded_schema));
}

open_result judge(sqlite_connection& db) {
    std::int64_t application = 0, version = 0, tables = 0;
    int code = db.query("PRAGMA application_id", application);
    if (code == SQLITE_OK) code = db.query("PRAGMA user_version", version);
    if (code == SQLITE_OK) code = db.query("SELECT count(*) FROM sqlite_schema", tables);
    if (code != SQLITE_OK) return failed(db, code, "cannot read the file");
    if (application == 0 && version == 0 && tables == 0) return create_schema(db);
    if (application != embedded_application) return {open_status::foreign, "the file was not written by Idem"};
    if (version > embedded_schema)
        return {open_status::foreign, "the file was written by a newer Idem (schema " + std::to_string(version) +
                                          ", this one knows " + std::to_string(embedded_schema) + ")"};
    return version < embedded_schema ? bring_up(db) : open_result{};
}

open_result configure(sqlite_connection& db) {
    std::string mode;
    int code = db.query("PRAGMA journal_mode=WAL", mode);
    if (code == SQLITE_OK && mode != "wal")
        return {open_status::unusable, "no write-ahead log here (mode " + mode + ")"};
    if (code == SQLITE_OK)
        code = db.execute(
            "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=16777216;"
            "PRAGMA cache_size=-4096; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON;"
            // What is deleted within a page is overwritten; whole pages are given back by who erases.
            "PRAGMA secure_delete=FAST");
    return code == SQLITE_OK ? open_result{} : failed(db, code, "cannot open the file");
}

}  // namespace

std::string embedded_path(const std::string& directory) {
    return directory + "/idem.db";
}

std::string_view network_file_system(std::uint64_t magic) noexcept {
    // linux/magic.h and statfs(2); numbers because not all are in the installed headers.
    static constexpr std::array<std::pair<std::uint64_t, std::string_view>, 13> known{{
        {0x6969, "NFS"},
        {0xff534d42, "CIFS"},
        {0x517b, "SMB"},
        {0xfe534d42, "SMB2"},
        {0x65735546, "FUSE"},
        {0x5346414f, "AFS"},
        {0x73757245, "Coda"},
        {0x00c36400, "Ceph"},
        {0x01021997, "9P"},
        {0x0bd00bd0, "Lustre"},
        {0x01161970, "GFS2"},
        {0x7461636f, "OCFS2"},
        {0x47504653, "GPFS"},
    }};
    for (const auto& [number, name] : known)
        if (number == magic) return name;
    return {};
}

std::string_view network_file_system_at(const std::string& path) {
    std::error_code ec;
    fs::path at = fs::absolute(path, ec);
    struct statfs info{};
    while (!at.empty()) {
        if (::statfs(at.c_str(), &info) == 0) return network_file_system(static_cast<std::uint32_t>(info.f_type));
        if (at == at.root_path()) break;
        at = at.parent_path();
    }
    return {};
}

open_result open_embedded_file(sqlite_connection& db, const std::string& directory) {
    std::error_code ec;
    const bool there = fs::exists(directory, ec);
    if (!there)
        if (open_result made = make_file(directory); made.status != open_status::ok) return made;
    const directory_lock lock(directory);
    if (there)
        if (open_result made = make_file(directory); made.status != open_status::ok) return made;
    const int code = db.open(embedded_path(directory), embedded_busy_ms);
    open_result result = code == SQLITE_OK ? judge(db) : failed(db, code, "cannot open the file");
    if (result.status == open_status::ok) result = configure(db);
    if (result.status != open_status::ok) db.close();
    // SQLite only says that it could not open something.
    if (result.status == open_status::unusable && ::access(directory.c_str(), W_OK) != 0)
        result.what += " (directory: " + std::string(std::strerror(errno)) + ")";
    return result;
}

int open_embedded_reader(sqlite_connection& db, const std::string& directory) {
    int code = db.open(embedded_path(directory), embedded_busy_ms);
    if (code == SQLITE_OK)
        code = db.execute("PRAGMA query_only=ON; PRAGMA cache_size=-2048; PRAGMA cell_size_check=ON");
    if (code != SQLITE_OK) db.close();
    return code;
}

std::uint64_t embedded_inode(const std::string& directory) noexcept {
    struct stat info{};
    return ::stat(embedded_path(directory).c_str(), &info) == 0 ? info.st_ino : 0;
}

std::string set_aside(const std::string& directory, std::uint64_t inode, std::int64_t unix_seconds) {
    const directory_lock lock(directory);
    if (embedded_inode(directory) != inode) return {};
    const std::string path = embedded_path(directory);
    std::tm utc{};
    const std::time_t seconds = unix_seconds;
    ::gmtime_r(&seconds, &utc);
    std::array<char, 32> stamp{};
    std::strftime(stamp.data(), stamp.size(), "%Y%m%dT%H%M%SZ", &utc);
    std::string aside = path + ".corrupt-" + stamp.data();
    std::error_code ec;
    for (int i = 2; fs::exists(aside, ec); ++i) aside = path + ".corrupt-" + stamp.data() + "-" + std::to_string(i);
    // The log first: a new file must never meet the old one's log.
    for (const char* suffix : {"-wal", "-shm", ""}) {
        fs::rename(path + suffix, aside + suffix, ec);
        if (ec && ec != std::errc::no_such_file_or_directory) return "cannot set " + path + " aside: " + ec.message();
    }
    return "set aside as " + aside;
}

}  // namespace idem::cache
