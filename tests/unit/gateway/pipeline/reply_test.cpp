#include "gateway/pipeline/reply.hpp"

#include <doctest/doctest.h>

using namespace idem;
using namespace idem::gateway;
using namespace idem::gateway::pipeline;

namespace {

cache::entry sample() {
    cache::entry e;
    e.created = 1'000'000;
    e.fresh_until = 1'000'000 + 60'000;
    e.content_type = "application/json";
    e.replica = "r1";
    e.headers = {{"openai-model", "m"}};
    return e;
}

std::string hit(exposure expose) {
    const cache::entry e = sample();
    account a = account_of(e, 1'010'500);
    a.what = outcome::hit;
    a.tier = "memory";
    a.request_id = "idem-1";
    a.via = "1.1 idem-abc";
    a.took_us = 1234;
    std::string head;
    append_hit_head(head, e, {}, a, expose);
    return head;
}

bool holds(const std::string& head, std::string_view text) {
    return head.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a hit tells its age, its remaining lifetime and where it came from") {
    const std::string head = hit(exposure::full);
    CHECK(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nopenai-model: m\r\n"));
    CHECK(holds(head, "Age: 10\r\n"));
    CHECK(holds(head, "X-Cache: HIT\r\n"));
    CHECK(holds(head, "Cache-Status: idem; hit; ttl=49; detail=memory\r\n"));
    CHECK(holds(head, "Idem-Replica: r1\r\n"));
    CHECK(holds(head, "Server-Timing: idem;dur=1.23\r\n"));
}

TEST_CASE("what is exposed is a matter of the configuration") {
    const std::string minimal = hit(exposure::minimal);
    CHECK(holds(minimal, "X-Cache: HIT\r\n"));
    CHECK(holds(minimal, "Age: 10\r\n"));
    CHECK_FALSE(holds(minimal, "Idem-Key"));
    const std::string none = hit(exposure::none);
    for (auto name : {"X-Cache", "Age", "Cache-Status", "Idem-", "Server-Timing"}) CHECK_FALSE(holds(none, name));
    CHECK(holds(none, "x-request-id: idem-1\r\n"));
}

TEST_CASE("a batch of which a part was stored went forward in part, as RFC 9211 has it") {
    account a;
    a.what = outcome::miss;
    a.why = reason::items_partial;
    a.stored = true;
    std::string head;
    append_account(head, a, exposure::full);
    CHECK(holds(head, "X-Cache: MISS\r\n"));
    CHECK(holds(head, "Cache-Status: idem; fwd=partial; stored; detail=items_partial\r\n"));
}

TEST_CASE("followers do not get what belongs to the one who asked") {
    cache::answer_head from;
    from.status = 200;
    from.content_type = "text/event-stream";
    from.headers = {{"x-request-id", "up-1"},
                    {"Set-Cookie", "s=1"},
                    {"x-ratelimit-limit", "5"},
                    {"x-other", "1"},
                    {"Cache-Status", "other; hit"}};
    account a;
    a.what = outcome::miss;
    a.request_id = "idem-1";
    std::string own, other;
    append_relayed_head(own, from, true, a, exposure::full);
    append_relayed_head(other, from, false, a, exposure::full);
    CHECK(holds(own, "x-request-id: up-1\r\n"));
    CHECK_FALSE(holds(own, "idem-1"));
    CHECK(holds(own, "Set-Cookie: s=1\r\n"));
    CHECK(holds(own, "Cache-Status: other; hit, idem; fwd=miss\r\n"));
    CHECK(holds(other, "x-request-id: idem-1\r\n"));
    CHECK(holds(other, "x-other: 1\r\n"));
    for (auto name : {"up-1", "Set-Cookie", "ratelimit"}) CHECK_FALSE(holds(other, name));
}

TEST_CASE("errors tell whether to come again") {
    account a;
    a.why = reason::only_if_cached;
    std::string head;
    append_error_head(head, 504, a, exposure::full);
    CHECK(holds(head, "x-should-retry: false\r\n"));
    head.clear();
    a.why = reason::overloaded;
    append_error_head(head, status_of(a.why), a, exposure::full);
    CHECK(head.starts_with("HTTP/1.1 503 "));
    CHECK(holds(head, "Retry-After: 1\r\n"));
}

TEST_CASE("every reason has a sentence and a status") {
    for (int i = 1; i < static_cast<int>(reason::count_); ++i) {
        const auto r = static_cast<reason>(i);
        CHECK_FALSE(sentence_of(r).empty());
        CHECK(status_of(r) >= 400);
        CHECK(status_of(r) < 600);
    }
}
