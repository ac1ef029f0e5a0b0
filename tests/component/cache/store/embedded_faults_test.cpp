// A full disk, a directory that cannot be written, files that are broken, newer or not ours, and a store that answers
// too late: each is said aloud, shown, counted and, where that is possible, mended without a restart.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>

#include "cache/store/embedded_file.hpp"
#include "tests/component/cache/store/embedded_support.hpp"

using namespace idem;
using namespace idem::test;
using cache::lookup_status;
using cache::put_status;

namespace {

// A small file system in memory, in a mount namespace of this thread's own. Needs the right to mount.
class small_disk {
public:
    explicit small_disk(const char* size) {
        if (::unshare(CLONE_NEWNS) != 0) return;
        if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
        mounted_ = ::mount("tmpfs", dir_.path().c_str(), "tmpfs", 0, (std::string("size=") + size).c_str()) == 0;
    }
    ~small_disk() {
        if (mounted_) ::umount2(dir_.path().c_str(), MNT_DETACH);
    }
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;
    [[nodiscard]] bool mounted() const { return mounted_; }
    [[nodiscard]] std::string path() const { return dir_.path() + "/store"; }
    [[nodiscard]] bool remount(unsigned long flags, const char* data) const {
        return ::mount(nullptr, dir_.path().c_str(), nullptr, MS_REMOUNT | flags, data) == 0;
    }

private:
    scratch dir_;
    bool mounted_ = false;
};

std::string noise(std::size_t size, int seed) {
    std::string text;
    for (int i = 0; text.size() < size; ++i) text += view(sha256(std::to_string(seed) + "," + std::to_string(i)));
    return text;
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
}

std::size_t set_aside(const std::string& dir) {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(dir)) {
        const std::string name = file.path().filename().string();
        count += name.starts_with("idem.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm");
    }
    return count;
}

}  // namespace

TEST_CASE("full disk: reading goes on, writing is refused by name and resumes by itself") {
    const small_disk disk("6m");
    if (!disk.mounted()) {
        MESSAGE("SKIPPED: no right to mount a small file system");
        return;
    }
    sayings said;
    const auto store = open(disk.path(), &said);
    REQUIRE(stored(*store, lasting("first")));
    cache::put_result result;
    int kept = 0;
    for (; kept < 100; ++kept) {
        result = put(*store, lasting("k" + std::to_string(kept), noise(200'000, kept)));
        if (result.status != put_status::stored) break;
    }
    CHECK(kept > 5);
    CHECK(kept < 50);
    CHECK(result.status == put_status::failed);
    CHECK(result.why == reason::store_unavailable);
    CHECK(said.heard("disk full"));
    CHECK_FALSE(store->stats().healthy);
    CHECK(store->stats().state.find("disk full") != std::string::npos);
    CHECK(store->stats().failed_writes >= 1);
    CHECK(find(*store, "first").status == lookup_status::found);
    CHECK(find(*store, "k0").value->body == noise(200'000, 0));
    const auto at_once = put(*store, lasting("while full"));
    CHECK(at_once.status == put_status::failed);

    REQUIRE(disk.remount(0, "size=64m"));
    CHECK(eventually([&] { return store->stats().healthy; }));
    CHECK(store->stats().state == "ok");
    CHECK(stored(*store, lasting("after", noise(200'000, -1))));
    CHECK(find(*store, "after").status == lookup_status::found);
    CHECK(find(*store, "first").status == lookup_status::found);
}

TEST_CASE("read-only directory: on from memory, until it can be written") {
    const small_disk disk("8m");
    if (!disk.mounted()) {
        MESSAGE("SKIPPED: no right to mount a small file system");
        return;
    }
    REQUIRE(stored(*open(disk.path()), lasting("a")));
    REQUIRE(disk.remount(MS_RDONLY, nullptr));
    sayings said;
    const auto store = open(disk.path(), &said);
    CHECK(said.count() > 0);
    CHECK_FALSE(store->stats().healthy);
    CHECK(store->stats().state.find("Read-only") != std::string::npos);
    const auto result = put(*store, lasting("b"));
    CHECK(result.status == put_status::failed);
    CHECK(result.why == reason::store_unavailable);
    CHECK(store->stats().failed_writes == 1);
    REQUIRE(disk.remount(0, nullptr));
    CHECK(eventually([&] { return store->stats().healthy; }));
    CHECK(find(*store, "a").status == lookup_status::found);
    CHECK(stored(*store, lasting("b")));
}

TEST_CASE("a file where the directory should be") {
    const scratch dir;
    std::ofstream(dir.path() + "/file") << "x";
    sayings said;
    const auto store = open(dir.path() + "/file", &said);
    CHECK_FALSE(store->stats().healthy);
    CHECK(said.count() == 1);
    CHECK(find(*store, "a").status == lookup_status::failed);
    CHECK(find(*store, "a").why == reason::store_unavailable);
    std::filesystem::remove(dir.path() + "/file");
    CHECK(eventually([&] { return store->stats().healthy; }));
    CHECK(stored(*store, lasting("a")));
}

TEST_CASE("a file that is no database is set aside and a new one begun") {
    const scratch dir;
    const std::string garbage = noise(20'000, 1);
    std::ofstream(dir.path() + "/idem.db", std::ios::binary) << garbage;
    sayings said;
    const auto store = open(dir.path(), &said);
    CHECK(store->stats().healthy);
    CHECK(said.heard("set aside"));
    CHECK(set_aside(dir.path()) == 1);
    for (const auto& file : std::filesystem::directory_iterator(dir.path()))
        if (file.path().filename().string().starts_with("idem.db.corrupt-")) CHECK(content(file.path()) == garbage);
    CHECK(stored(*store, lasting("a")));
    CHECK(find(*store, "a").status == lookup_status::found);
}

TEST_CASE("damage that is met while running: set aside, and the entry in hand is stored all the same") {
    const scratch dir;
    const std::string path = dir.path() + "/idem.db";
    {
        const auto store = open(dir.path());
        for (int i = 0; i < 200; ++i) REQUIRE(stored(*store, lasting("k" + std::to_string(i), noise(3000, i))));
    }
    // All but the first pages, which hold the schema, and the last: opening finds nothing wrong.
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
    {
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(12 * 4096);
        file << noise(static_cast<std::size_t>(size - 24 * 4096), 7);
    }
    sayings said;
    const auto store = open(dir.path(), &said);
    bool new_file = false;
    for (int i = 0; i < 200 && !new_file; ++i) {
        const auto found = find(*store, "k" + std::to_string(i));
        if (found.status == lookup_status::found) CHECK(found.value->body == noise(3000, i));
        const auto result = put(*store, lasting("new" + std::to_string(i)));
        CHECK(result.status == put_status::stored);
        new_file = said.heard("set aside");
    }
    CHECK(new_file);
    CHECK(set_aside(dir.path()) == 1);
    CHECK(store->stats().healthy);
    CHECK(stored(*store, lasting("after")));
    CHECK(find(*store, "after").status == lookup_status::found);
    CHECK(outside(dir.path()).ask("PRAGMA integrity_check") == "ok");
}

TEST_CASE("a file that was removed while open is noticed") {
    const scratch dir;
    sayings said;
    const auto store = open(dir.path(), &said);
    CHECK(stored(*store, lasting("a")));
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(dir.path() + "/idem.db" + suffix);
    CHECK(eventually([&] { return said.heard("removed"); }));
    CHECK(stored(*store, lasting("b")));
    store->close();
    CHECK(find(*open(dir.path()), "b").status == lookup_status::found);
}

TEST_CASE("files of a newer Idem or of another program are left alone") {
    struct foreign {
        const char* sql;
        const char* said;
    };
    for (const auto& [sql, expected] :
         {foreign{"PRAGMA user_version=1000", "newer"}, foreign{"PRAGMA application_id=7", "not written by Idem"}}) {
        const scratch dir;
        REQUIRE(stored(*open(dir.path()), lasting("a")));
        outside(dir.path()).run(sql);
        const std::string before = content(dir.path() + "/idem.db");
        {
            sayings said;
            const auto store = open(dir.path(), &said);
            CHECK(said.heard(expected));
            CHECK_FALSE(store->stats().healthy);
            CHECK(store->stats().state.find(expected) != std::string::npos);
            CHECK(find(*store, "a").status == lookup_status::failed);
            CHECK(put(*store, lasting("b")).status == put_status::failed);
            CHECK(wait(store->write_record("u", "v", 0)).status == cache::record_status::failed);
            CHECK(store->stats().failed_writes == 2);
            CHECK(store->stats().failed_reads == 1);
        }
        CHECK(content(dir.path() + "/idem.db") == before);
        CHECK(set_aside(dir.path()) == 0);
    }
    const scratch dir;
    {
        sqlite3* db = nullptr;
        REQUIRE(sqlite3_open((dir.path() + "/idem.db").c_str(), &db) == SQLITE_OK);
        REQUIRE(sqlite3_exec(db, "CREATE TABLE theirs(x)", nullptr, nullptr, nullptr) == SQLITE_OK);
        sqlite3_close(db);
    }
    CHECK_FALSE(open(dir.path())->stats().healthy);
    CHECK(outside(dir.path()).ask("SELECT name FROM sqlite_schema") == "theirs");
}

TEST_CASE("a store that is locked answers in time, its late results are dropped, and the breaker opens") {
    const scratch dir;
    const auto store = open(dir.path(), nullptr, [](auto& o) { o.deadline = 30ms; });
    outside other(dir.path());
    other.run("BEGIN IMMEDIATE");
    // Each call's io_context is destroyed right after it: a late result must not touch it.
    int calls = 0;
    cache::put_result result;
    for (; calls < 20; ++calls) {
        const auto from = std::chrono::steady_clock::now();
        result = put(*store, lasting("k" + std::to_string(calls)));
        CHECK(result.status == put_status::failed);
        CHECK(std::chrono::steady_clock::now() - from < 5s);
        if (result.why != reason::store_timeout) break;
    }
    CHECK(calls == 5);
    CHECK(result.why == reason::store_open_breaker);
    CHECK(store->stats().timeouts == 5);
    CHECK_FALSE(store->stats().healthy);
    CHECK(find(*store, "k0").status != lookup_status::failed);
    other.run("COMMIT");
    CHECK(eventually([&] { return stored(*store, lasting("after")) || find(*store, "after").value != nullptr; }));
    CHECK(eventually([&] { return store->stats().healthy; }));
}

TEST_CASE("what waits to be written is bounded, and a refusal is counted") {
    const scratch dir;
    const auto store = open(dir.path(), nullptr, [](auto& o) {
        o.deadline = 10s;
        o.queue_bytes = 100'000;
    });
    outside other(dir.path());
    other.run("BEGIN IMMEDIATE");
    std::array<int, 4> by_status{};
    net::asio::io_context context(1);
    for (int i = 0; i < 200; ++i)
        net::asio::co_spawn(context.get_executor(),
                            store->put(lasting("k" + std::to_string(i), std::string(5000, 'x')), {}, now),
                            [&](std::exception_ptr, cache::put_result r) {
                                ++by_status[static_cast<std::size_t>(r.status)];
                                if (r.status == put_status::refused) CHECK(r.why == reason::store_unavailable);
                            });
    context.poll();
    CHECK(by_status[static_cast<std::size_t>(put_status::refused)] > 100);
    CHECK(store->stats().refused == static_cast<std::uint64_t>(by_status[2]));
    other.run("COMMIT");
    context.run();
    CHECK(by_status[0] + by_status[2] + by_status[3] == 200);
    CHECK(stored(*store, lasting("after")));
}

TEST_CASE("network file systems are known by their numbers") {
    CHECK(cache::network_file_system(0x6969) == "NFS");
    CHECK(cache::network_file_system(0xff534d42) == "CIFS");
    CHECK(cache::network_file_system(0xfe534d42) == "SMB2");
    CHECK(cache::network_file_system(0x65735546) == "FUSE");
    CHECK(cache::network_file_system(0xef53) == "");      // ext4
    CHECK(cache::network_file_system(0x01021994) == "");  // tmpfs
    CHECK(cache::network_file_system(0x58465342) == "");  // xfs
    const scratch dir;
    CHECK(cache::network_file_system_at(dir.path() + "/not/yet/there") == "");
}
