#include "cache/flight/flight.hpp"

#include <doctest/doctest.h>
#include <boost/asio/co_spawn.hpp>
#include <thread>

#include "cache/flight/table.hpp"

using namespace idem;
using namespace idem::cache;
using upstream::net::task;

namespace {

cache_key key_of(std::string_view text) {
    return {sha256(text)};
}

ban_subject subject(const char* name) {
    ban_subject s;
    s.key = key_of(name);
    return s;
}

// Follows a flight to its end and collects what it saw.
task<void> follow(follower* f, std::string* out, bool* clean) {
    std::uint64_t at = 0;
    for (;;) {
        const auto v = f->look();
        while (at < v.size) {
            const std::string_view piece = f->bytes(at, v.size);
            out->append(piece);
            at += piece.size();
            f->advance(at);
        }
        if (v.end) {
            *clean = v.end->clean;
            co_return;
        }
        if (f->interrupted() || v.cut) co_return;
        co_await f->wait(v.version);
    }
}

void rethrow(std::exception_ptr e) {
    if (e) std::rethrow_exception(e);
}

}  // namespace

TEST_CASE("the first caller leads, later ones follow, and all read the same bytes") {
    boost::asio::io_context io(1);
    flight_table table;
    auto first = table.join(subject("k"), io.get_executor(), {}, {});
    auto second = table.join(subject("k"), io.get_executor(), {}, {});
    REQUIRE(first.leads);
    REQUIRE_FALSE(second.leads);
    flight& f = first.place->of();
    std::string a, b;
    bool clean_a = false, clean_b = false;
    boost::asio::co_spawn(io, follow(first.place.get(), &a, &clean_a), rethrow);
    io.poll();
    f.begin({.status = 200});
    f.append("hello ", 0, {});
    io.poll();
    CHECK(a == "hello ");
    boost::asio::co_spawn(io, follow(second.place.get(), &b, &clean_b), rethrow);  // late: from offset 0
    io.poll();
    CHECK(b == "hello ");
    f.append("world", 0, {});
    f.finish({.stored = true, .clean = true});
    io.poll();
    CHECK(a == "hello world");
    CHECK(b == a);
    CHECK(clean_a);
    CHECK(clean_b);
}

TEST_CASE("only the last follower's leaving abandons the fill, and nobody joins after that") {
    boost::asio::io_context io(1);
    flight_table table;
    auto first = table.join(subject("k"), io.get_executor(), {}, {});
    auto second = table.join(subject("k"), io.get_executor(), {}, {});
    bool abandoned = false;
    first.place->of().on_abandoned([&] { abandoned = true; });
    const std::shared_ptr<flight> kept = first.place->of().shared_from_this();
    first.place.reset();
    io.poll();
    CHECK_FALSE(abandoned);
    second.place.reset();
    io.restart();
    io.poll();
    CHECK(abandoned);
    CHECK(kept->abandoned());
    CHECK(table.join(subject("k"), io.get_executor(), {}, {}).leads);
}

TEST_CASE("leaving after the end abandons nothing") {
    boost::asio::io_context io(1);
    auto [place, leads] = flight_table::alone(io.get_executor(), {});
    const std::shared_ptr<flight> kept = place->of().shared_from_this();
    kept->finish({});
    place.reset();
    CHECK_FALSE(kept->abandoned());
}

TEST_CASE("while the store is being asked whoever comes joins, also when all others have left") {
    boost::asio::io_context io(1);
    flight_table table;
    auto first = table.join(subject("k"), io.get_executor(), {}, {});
    const std::shared_ptr<flight> kept = first.place->of().shared_from_this();
    kept->begin({.status = 200});
    kept->append("all of it", 0, {});
    kept->end_of_bytes(reason::none);
    first.place.reset();
    io.poll();
    CHECK_FALSE(kept->abandoned());
    auto late = table.join(subject("k"), io.get_executor(), {}, {});
    CHECK_FALSE(late.leads);
    CHECK(late.place->bytes(0, 100) == "all of it");
}

TEST_CASE("nobody joins an answer that broke") {
    boost::asio::io_context io(1);
    flight_table table;
    auto first = table.join(subject("k"), io.get_executor(), {}, {});
    first.place->of().begin({.status = 200});
    first.place->of().end_of_bytes(reason::framing_incomplete);
    CHECK(table.join(subject("k"), io.get_executor(), {}, {}).leads);
}

TEST_CASE("a deleted key's flight goes on but takes nobody new") {
    boost::asio::io_context io(1);
    flight_table table;
    auto first = table.join(subject("k"), io.get_executor(), {}, {});
    CHECK(table.invalidate(key_of("k")));
    CHECK_FALSE(table.invalidate(key_of("k")));
    CHECK(first.place->of().invalidated());
    CHECK(table.join(subject("k"), io.get_executor(), {}, {}).leads);
}

TEST_CASE("beyond the entry cap the log slides with the slowest follower and the fill waits for it") {
    boost::asio::io_context io(1);
    const flight::limits small{.entry = 100'000, .window = 100'000, .most = 200'000};
    flight_table table;
    auto first = table.join(subject("k"), io.get_executor(), small, {});
    flight& f = first.place->of();
    f.begin({.status = 200});
    f.append(std::string(90'000, 'a'), 0, {});
    CHECK_FALSE(f.overflowed());
    f.append(std::string(150'000, 'b'), 0, {});
    CHECK(f.overflowed());
    CHECK(f.full());
    CHECK(table.join(subject("k"), io.get_executor(), small, {}).leads);
    first.place->advance(230'000);
    CHECK_FALSE(f.full());
    CHECK(first.place->bytes(239'999, 240'000) == "b");
}

namespace {

/// A flight that two follow, in the thread of a test that says what time it is.
struct pair_of_followers {
    explicit pair_of_followers(flight::limits l) {
        auto a = table.join(subject("k"), io.get_executor(), l, {});
        auto b = table.join(subject("k"), io.get_executor(), l, {});
        quick = std::move(a.place);
        slow = std::move(b.place);
        of().begin({.status = 200});
    }
    flight& of() { return quick->of(); }
    /// The fill reads `n` bytes, and the quick one takes them at once.
    void read(std::size_t n) {
        of().append(std::string(n, 'x'), 0, {});
        of().cut_slow(now);
        size += n;
        quick->advance(size);
    }

    boost::asio::io_context io{1};
    flight_table table;
    std::unique_ptr<follower> quick, slow;
    std::uint64_t size = 0;
    upstream::net::time_point now{std::chrono::hours(1)};
};

constexpr flight::limits megabytes{.entry = 1'000'000, .window = 4'000'000, .most = 8'000'000};

}  // namespace

TEST_CASE("a follower that blocks a full log is cut after the patience is over") {
    pair_of_followers p({.entry = 1000, .window = 50'000, .most = 100'000, .patience = std::chrono::milliseconds(1)});
    bool cut = false;
    p.slow->on_cut([&] { cut = true; });
    p.of().append(std::string(150'000, 'x'), 0, {});
    p.quick->advance(150'000);
    REQUIRE(p.of().full());
    p.of().cut_slow(upstream::net::clock::now());
    boost::asio::co_spawn(p.io, p.of().wait_space(), rethrow);
    p.io.run();
    CHECK(cut);
    CHECK(p.slow->look().cut);
    CHECK_FALSE(p.quick->look().cut);
    CHECK_FALSE(p.of().full());
}

TEST_CASE("the only follower left is never cut: the fill waits for it alone") {
    const flight::limits small{
        .entry = 1000, .window = 50'000, .most = 100'000, .patience = std::chrono::milliseconds(1)};
    pair_of_followers p(small);
    p.of().append(std::string(150'000, 'x'), 0, {});
    p.of().cut_slow(p.now);
    p.now += std::chrono::seconds(10);
    SUBCASE("as the other one has left") {
        p.quick.reset();
    }
    SUBCASE("as the other one, as slow, was cut first") {}
    flight& f = p.slow->of();
    f.cut_slow(p.now);
    CHECK_FALSE(p.slow->look().cut);
    if (p.quick) CHECK(p.quick->look().cut);
    REQUIRE(f.full());
    bool waited = false;
    boost::asio::co_spawn(p.io, f.wait_space(), [&](std::exception_ptr) { waited = true; });
    p.io.poll();
    p.io.restart();
    CHECK_FALSE(waited);
    p.slow->advance(150'000);
    p.io.run();
    CHECK(waited);
    CHECK_FALSE(f.full());
}

TEST_CASE("a follower that is far behind for ten seconds is cut, though nobody had to wait for it") {
    pair_of_followers p(megabytes);
    p.read(3'999'999);
    p.now += std::chrono::minutes(1);  // not far enough behind
    p.read(1);
    for (int second = 0; second < 9; ++second) {
        p.now += std::chrono::seconds(1);
        p.read(1000);
        CHECK_FALSE(p.slow->look().cut);
        CHECK_FALSE(p.of().full());
    }
    p.now += std::chrono::seconds(1);
    p.read(1000);
    CHECK(p.slow->look().cut);
    CHECK_FALSE(p.quick->look().cut);
}

TEST_CASE("a follower that reads steadily and stays far behind is cut as well") {
    pair_of_followers p(megabytes);
    p.read(5'000'000);
    for (std::uint64_t second = 1; second <= 10; ++second) {
        CHECK_FALSE(p.slow->look().cut);
        p.slow->advance(second * 1000);
        p.now += std::chrono::seconds(1);
        p.read(1000);
    }
    CHECK(p.slow->look().cut);
}

TEST_CASE("a follower that catches up in time is not cut") {
    pair_of_followers p(megabytes);
    p.read(5'000'000);
    p.now += std::chrono::seconds(9);
    p.slow->advance(2'000'000);
    p.read(1000);
    p.now += std::chrono::seconds(9);
    p.read(3'000'000);
    CHECK_FALSE(p.slow->look().cut);
    p.now += std::chrono::seconds(10);
    p.read(1000);
    CHECK(p.slow->look().cut);
}

TEST_CASE("interrupting a follower ends its wait") {
    boost::asio::io_context io(1);
    auto one = flight_table::alone(io.get_executor(), {});
    std::string out;
    bool clean = false;
    bool ended = false;
    boost::asio::co_spawn(io, follow(one.place.get(), &out, &clean), [&](std::exception_ptr e) {
        rethrow(e);
        ended = true;
    });
    io.poll();
    CHECK_FALSE(ended);
    one.place->interrupt();
    io.restart();
    io.poll();
    CHECK(ended);
}

TEST_CASE("followers on another thread see every byte") {
    boost::asio::io_context fill_io(1), other_io(1);
    auto keep = boost::asio::make_work_guard(other_io);
    flight_table table;
    auto lead = table.join(subject("k"), fill_io.get_executor(), {}, {});
    constexpr int count = 50;
    std::vector<std::unique_ptr<follower>> places;
    std::vector<std::string> outs(count);
    auto cleans = std::make_unique<bool[]>(count);
    for (int i = 0; i < count; ++i) {
        places.push_back(table.join(subject("k"), other_io.get_executor(), {}, {}).place);
        boost::asio::co_spawn(
            other_io,
            follow(places.back().get(), &outs[static_cast<std::size_t>(i)], &cleans[static_cast<std::size_t>(i)]),
            rethrow);
    }
    std::thread other([&] { other_io.run(); });
    std::string all;
    lead.place->of().begin({.status = 200});
    for (int i = 0; i < 2000; ++i) {
        const std::string piece = "event " + std::to_string(i) + "\n\n";
        all += piece;
        lead.place->of().append(piece, 0, {});
    }
    lead.place->of().finish({.clean = true});
    keep.reset();
    other.join();
    for (int i = 0; i < count; ++i) {
        CHECK(outs[static_cast<std::size_t>(i)] == all);
        CHECK(cleans[static_cast<std::size_t>(i)]);
    }
    places.clear();
}

TEST_CASE("a flight that was purged since it began takes nobody new and stores nothing") {
    net::asio::io_context io(1);
    flight_table table;
    state_record r = begin_state(7, 1, std::nullopt);
    const std::vector<std::string> red{"red"}, none;
    ban_subject about = subject("k");
    about.mark = ban_mark(7, 1);
    about.tags = red;
    auto first = table.join(about, io.get_executor(), {}, ban_table(r));
    REQUIRE(first.leads);
    ban_subject later = subject("k");
    later.mark = about.mark;
    later.tags = none;
    add_ban(r, ban_kind::tag, "blue", false, 0);
    commit(r, 2);
    CHECK_FALSE(table.join(later, io.get_executor(), {}, ban_table(r)).leads);
    CHECK_FALSE(first.place->of().invalidated());
    add_ban(r, ban_kind::tag, "red", false, 0);
    commit(r, 3);
    auto second = table.join(later, io.get_executor(), {}, ban_table(r));
    CHECK(second.leads);
    CHECK(first.place->of().invalidated());
    CHECK(table.size() == 1);
    table.remove(about.key, first.place->of());  // the old one ends: the new one stays
    CHECK(table.size() == 1);
}
