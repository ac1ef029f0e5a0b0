#include "cache/state/local_coordination.hpp"

#include <doctest/doctest.h>

using namespace idem;
using namespace idem::cache;
using namespace std::chrono_literals;

namespace {

const upstream::net::time_point start = upstream::net::time_point(1h);

id128 named(std::uint8_t n) {
    id128 id;
    id.bytes[0] = n;
    return id;
}

}  // namespace

TEST_CASE("records are changed by compare-and-set") {
    local_coordination c;
    CHECK(c.read("x").status == record_status::absent);
    CHECK(c.write("x", "v", 3).status == record_status::conflict);
    const record_result made = c.write("x", "one", 0);
    REQUIRE(made.status == record_status::ok);
    CHECK(made.version != 0);
    CHECK(c.write("x", "two", 0).status == record_status::conflict);
    CHECK(c.write("x", "two", 0).value == "one");
    const record_result changed = c.write("x", "two", made.version);
    CHECK(changed.version == made.version + 1);
    CHECK(c.write("x", "three", made.version).status == record_status::conflict);
    CHECK(c.read("x").value == "two");
    CHECK(c.read("x").version == changed.version);
    CHECK(c.write("y", std::string(longest_record + 1, 'x'), 0).why == reason::entry_too_large);
    CHECK(c.read("y").status == record_status::absent);
}

TEST_CASE("a lease ends when its time is over, unless it was extended") {
    local_coordination c;
    const id128 a = named(1), b = named(2);
    CHECK(c.take("r", a, 10s, start).status == lease_status::held);
    CHECK(c.take("r", b, 10s, start + 9999ms).status == lease_status::taken);
    CHECK(c.take("r", a, 10s, start + 9999ms).wanted);
    CHECK(c.take("r", b, 10s, start + 19s).status == lease_status::taken);
    CHECK(c.take("r", b, 10s, start + 20s).status == lease_status::held);
    CHECK(c.take("r", a, 10s, start + 21s).status == lease_status::taken);
    CHECK(c.give_back("r", a, true, start + 21s).status == lease_status::taken);
    CHECK_FALSE(c.take("q", a, 10s, start).wanted);
    CHECK_FALSE(c.take("q", a, 10s, start + 11s).wanted);
}

TEST_CASE("a lease that is given back goes to who asked first, who has a moment to take it") {
    local_coordination c;
    const id128 a = named(1), b = named(2), d = named(3);
    REQUIRE(c.take("r", a, 10s, start).status == lease_status::held);
    REQUIRE(c.take("r", b, 10s, start).status == lease_status::taken);
    REQUIRE(c.take("r", d, 10s, start).status == lease_status::taken);
    CHECK(c.give_back("r", a, true, start + 1s).status == lease_status::held);
    CHECK(c.take("r", d, 10s, start + 1s).status == lease_status::taken);
    CHECK(c.take("r", a, 10s, start + 1s).status == lease_status::taken);
    const lease_result b_has_it = c.take("r", b, 10s, start + 1s);
    CHECK(b_has_it.status == lease_status::held);
    CHECK(b_has_it.before == lease_past::settled);
    REQUIRE(c.take("r", d, 10s, start + 1s).status == lease_status::taken);
    CHECK(c.give_back("r", b, true, start + 2s).status == lease_status::held);
    // d does not come for it.
    CHECK(c.take("r", a, 10s, start + 2s + lease_reserved - 1ms).status == lease_status::taken);
    CHECK(c.take("r", a, 10s, start + 2s + lease_reserved).status == lease_status::held);
}

TEST_CASE("who gets a lease is told how it was left") {
    local_coordination c;
    const id128 a = named(1), b = named(2);
    CHECK(c.take("r", a, 10s, start).before == lease_past::unknown);
    CHECK(c.take("r", a, 10s, start + 1s).before == lease_past::settled);
    CHECK(c.give_back("r", a, true, start + 2s).status == lease_status::held);
    CHECK(c.take("r", b, 10s, start + 3s).before == lease_past::settled);
    CHECK(c.take("r", a, 10s, start + 13s).before == lease_past::lapsed);
    CHECK(c.take("r", a, 10s, start + 33s).before == lease_past::settled);  // its own
    // In doubt, and wanted: nobody is given it as if all was well.
    CHECK(c.take("r", b, 10s, start + 34s).status == lease_status::taken);
    CHECK(c.give_back("r", a, false, start + 35s).status == lease_status::held);
    CHECK(c.give_back("r", a, true, start + 35s).status == lease_status::taken);
    const lease_result doubtful = c.take("r", b, 10s, start + 35s);
    CHECK(doubtful.status == lease_status::held);
    CHECK(doubtful.before == lease_past::lapsed);
    CHECK_FALSE(doubtful.wanted);
    // Reserved for a, who did not come, and so began nothing.
    CHECK(c.take("r", a, 10s, start + 36s).status == lease_status::taken);
    CHECK(c.give_back("r", b, true, start + 37s).status == lease_status::held);
    CHECK(c.take("r", b, 10s, start + 38s).before == lease_past::settled);
}
