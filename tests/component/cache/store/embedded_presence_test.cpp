#include "cache/store/embedded_presence.hpp"

#include <sys/wait.h>

#include "cache/store/embedded_file.hpp"
#include "tests/component/cache/store/embedded_support.hpp"

using namespace idem;
using namespace idem::test;
using cache::embedded_presence;

namespace {

// A file, and a writer that tells the filter what it does, as embedded_writer would.
struct fixture {
    fixture() {
        REQUIRE(cache::open_embedded_file(db, dir.path()).status == cache::open_status::ok);
        presence.begin(dir.path());
    }
    void fill() {
        REQUIRE(presence.filling());
        presence.filled();
    }
    void write(const char* name) {
        REQUIRE(db.execute("BEGIN IMMEDIATE") == SQLITE_OK);
        (void)presence.others_wrote();
        presence.add(sample_key(name));
        insert(db, name);
        REQUIRE(db.execute("COMMIT") == SQLITE_OK);
        presence.committed(true);
    }
    static void insert(cache::sqlite_connection& db, const std::string& name) {
        REQUIRE(db.execute(("INSERT OR REPLACE INTO records VALUES('" + name + "',1,x'00')").c_str()) == SQLITE_OK);
    }
    [[nodiscard]] bool absent(const char* name) const { return presence.surely_absent(sample_key(name)); }

    scratch dir;
    cache::sqlite_connection db;
    embedded_presence presence{1 << 20};
};

}  // namespace

TEST_CASE("absent is told once the filter is full and a commit of ours has proven the watch") {
    fixture f;
    CHECK_FALSE(f.absent("x"));
    f.fill();
    CHECK_FALSE(f.absent("x"));
    f.write("a");
    CHECK(f.absent("x"));
    CHECK_FALSE(f.absent("a"));
    f.write("b");
    CHECK(f.absent("x"));
    CHECK_FALSE(f.absent("b"));
}

TEST_CASE("nothing is absent while another connection's commit is not known") {
    fixture f;
    f.fill();
    f.write("a");
    CHECK(f.absent("x"));
    cache::sqlite_connection other;
    REQUIRE(cache::open_embedded_file(other, f.dir.path()).status == cache::open_status::ok);
    CHECK(f.absent("x"));  // opening changes nothing
    f.insert(other, "theirs");
    CHECK_FALSE(f.absent("x"));
    CHECK(f.presence.others_wrote());
    f.write("b");
    CHECK(f.absent("x"));
    // A commit between ours and our look at the mark is not taken for ours.
    REQUIRE(f.db.execute("BEGIN IMMEDIATE") == SQLITE_OK);
    (void)f.presence.others_wrote();
    f.insert(f.db, "ours");
    REQUIRE(f.db.execute("COMMIT") == SQLITE_OK);
    f.insert(other, "theirs again");
    f.presence.committed(true);
    CHECK_FALSE(f.absent("x"));
}

TEST_CASE("another process's commit is seen as well") {
    fixture f;
    f.fill();
    f.write("a");
    CHECK(f.absent("x"));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        cache::sqlite_connection theirs;
        const bool opened = cache::open_embedded_file(theirs, f.dir.path()).status == cache::open_status::ok;
        ::_exit(opened && theirs.execute("INSERT INTO records VALUES('t',1,x'00')") == SQLITE_OK ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    CHECK_FALSE(f.absent("x"));
}

TEST_CASE("a checkpoint and a restarted log change no answer") {
    fixture f;
    f.fill();
    f.write("a");
    std::int64_t ignored = 0;
    REQUIRE(f.db.query("PRAGMA wal_checkpoint(TRUNCATE)", ignored) == SQLITE_OK);
    CHECK(f.absent("x"));
    f.write("b");
    CHECK(f.absent("x"));
    CHECK_FALSE(f.absent("a"));
    CHECK_FALSE(f.absent("b"));
}

TEST_CASE("filling anew, another file and no file: not surely") {
    fixture f;
    f.fill();
    f.write("a");
    CHECK(f.absent("x"));
    f.presence.refill();
    CHECK_FALSE(f.absent("x"));
    f.presence.add(sample_key("a"));
    f.presence.filled();
    f.write("b");
    CHECK(f.absent("x"));
    CHECK_FALSE(f.absent("a"));
    f.presence.end();
    CHECK_FALSE(f.absent("x"));
    f.presence.begin(f.dir.path());
    CHECK_FALSE(f.absent("x"));
}
