#include <signal.h>
#include <sys/wait.h>

#include "tests/component/cache/store/embedded_support.hpp"

using namespace idem;
using namespace idem::test;
using cache::lease_result;
using cache::lease_status;
using cache::record_result;
using cache::record_status;

namespace {

record_result read(cache::store& s, std::string name) {
    return wait(s.read_record(std::move(name)));
}
record_result write(cache::store& s, std::string name, std::string value, std::uint64_t expected) {
    return wait(s.write_record(std::move(name), std::move(value), expected));
}
lease_result lease(cache::store& s, std::string name, id128 holder, std::chrono::milliseconds length) {
    return wait(s.lease(std::move(name), holder, length));
}
lease_result release(cache::store& s, std::string name, id128 holder, bool settled = true) {
    return wait(s.release(std::move(name), holder, settled));
}

}  // namespace

TEST_CASE("a record is changed only by who has seen its last version") {
    const scratch dir;
    std::uint64_t last = 0;
    {
        const auto one = open(dir.path()), two = open(dir.path());
        CHECK(read(*one, "state").status == record_status::absent);
        const auto nothing = write(*one, "state", "x", 7);
        CHECK(nothing.status == record_status::conflict);
        CHECK(nothing.version == 0);
        const auto made = write(*one, "state", std::string("first\0", 6), 0);
        REQUIRE(made.status == record_status::ok);
        CHECK(made.version != 0);
        const auto seen = read(*two, "state");
        REQUIRE(seen.status == record_status::ok);
        CHECK(seen.value == std::string("first\0", 6));
        CHECK(seen.version == made.version);
        CHECK(write(*two, "state", "second", 0).status == record_status::conflict);
        const auto changed = write(*two, "state", "", made.version);
        REQUIRE(changed.status == record_status::ok);
        CHECK(changed.version == made.version + 1);
        const auto late = write(*one, "state", "late", made.version);
        REQUIRE(late.status == record_status::conflict);
        CHECK(late.value == "");
        CHECK(late.version == changed.version);
        CHECK(write(*one, "empty", "", 0).status == record_status::ok);
        CHECK(read(*one, "empty").status == record_status::ok);
        last = changed.version;
        CHECK(write(*one, "large", std::string(cache::longest_record + 1, 'x'), 0).why == reason::entry_too_large);
        CHECK(write(*one, "large", std::string(cache::longest_record, 'x'), 0).status == record_status::ok);
    }
    CHECK(read(*open(dir.path()), "state").version == last);
}

TEST_CASE("a lease has one holder, goes to who asked, and outlives its store") {
    const scratch dir;
    const id128 a = sample_id("a"), b = sample_id("b");
    {
        const auto one = open(dir.path()), two = open(dir.path());
        CHECK(lease(*one, "r", a, 60s).status == lease_status::held);
        CHECK_FALSE(lease(*one, "r", a, 60s).wanted);
        CHECK(lease(*two, "r", b, 60s).status == lease_status::taken);
        CHECK(release(*two, "r", b).status == lease_status::taken);
        CHECK(lease(*two, "other", b, 60s).status == lease_status::held);
        CHECK(lease(*one, "r", a, 60s).wanted);
        CHECK(release(*one, "r", a).status == lease_status::held);
        CHECK(lease(*one, "r", a, 60s).status == lease_status::taken);
        CHECK(lease(*two, "r", b, 60s).status == lease_status::held);
        CHECK(release(*two, "r", b).status == lease_status::held);
        CHECK(eventually([&] { return lease(*two, "r", b, 60s).status == lease_status::held; }));
    }
    const auto later = open(dir.path());
    CHECK(lease(*later, "r", a, 60s).status == lease_status::taken);
    CHECK(release(*later, "r", b).status == lease_status::held);
}

TEST_CASE("a lease that is not renewed ends, and its holder learns of it") {
    const scratch dir;
    const id128 a = sample_id("a"), b = sample_id("b");
    const auto store = open(dir.path());
    REQUIRE(lease(*store, "r", a, 50ms).status == lease_status::held);
    CHECK(eventually([&] { return lease(*store, "r", b, 60s).status == lease_status::held; }));
    CHECK(lease(*store, "r", a, 60s).status == lease_status::taken);
    CHECK(release(*store, "r", a).status == lease_status::taken);
}

TEST_CASE("who gets a lease is told how it was left, by whichever process") {
    using cache::lease_past;
    const scratch dir;
    const auto one = open(dir.path()), two = open(dir.path());
    const id128 a = sample_id("a"), b = sample_id("b");
    CHECK(lease(*one, "r", a, 60s).before == lease_past::unknown);
    CHECK(lease(*one, "r", a, 60s).before == lease_past::settled);
    CHECK(release(*one, "r", a).status == lease_status::held);
    CHECK(lease(*two, "r", b, 50ms).before == lease_past::settled);
    lease_result next;
    CHECK(eventually([&] { return (next = lease(*one, "r", a, 60s)).status == lease_status::held; }));
    CHECK(next.before == lease_past::lapsed);
    CHECK(release(*one, "r", a, false).status == lease_status::held);
    CHECK(release(*one, "r", a).status == lease_status::taken);
    CHECK(lease(*two, "r", b, 60s).before == lease_past::lapsed);
}

TEST_CASE("two processes: a lease holds after its holder was killed, and no longer than it lasts") {
    const scratch dir;
    const id128 a = sample_id("a"), b = sample_id("b");
    int told[2];
    REQUIRE(::pipe(told) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const auto store = open(dir.path());
        const bool held = lease(*store, "r", a, 3s).status == lease_status::held &&
                          write(*store, "state", "theirs", 0).status == record_status::ok;
        (void)!::write(told[1], held ? "y" : "n", 1);
        ::pause();
        ::_exit(0);
    }
    char held = 0;
    REQUIRE(::read(told[0], &held, 1) == 1);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    ::close(told[0]);
    ::close(told[1]);
    CHECK(held == 'y');
    const auto store = open(dir.path());
    CHECK(read(*store, "state").value == "theirs");
    const auto began = std::chrono::steady_clock::now();
    CHECK(eventually([&] { return lease(*store, "r", b, 60s).status == lease_status::held; }));
    CHECK(std::chrono::steady_clock::now() - began < 20s);
}

TEST_CASE("a file of schema 2 gets the tables for records and leases") {
    const scratch dir;
    {
        const auto store = open(dir.path());
        CHECK(stored(*store, lasting("a")));
    }
    outside(dir.path())
        .run(
            "DROP TABLE records; DROP TABLE leases; DROP TABLE ledger; PRAGMA user_version=2; CREATE TABLE "
            "epochs(upstream TEXT PRIMARY "
            "KEY, id BLOB, "
            "environment BLOB, created INTEGER) WITHOUT ROWID");
    const auto store = open(dir.path());
    CHECK(find(*store, "a").status == cache::lookup_status::found);
    CHECK(write(*store, "state", "x", 0).status == record_status::ok);
    CHECK(lease(*store, "r", sample_id("a"), 1s).status == lease_status::held);
}

TEST_CASE("a closed store fails with a reason") {
    const scratch dir;
    const auto store = open(dir.path());
    store->close();
    CHECK(read(*store, "x").status == record_status::failed);
    CHECK(read(*store, "x").why != reason::none);
    CHECK(write(*store, "x", "y", 0).status == record_status::failed);
    CHECK(lease(*store, "r", sample_id("a"), 1s).status == lease_status::failed);
    CHECK(release(*store, "r", sample_id("a")).why != reason::none);
}
