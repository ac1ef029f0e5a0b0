#include "gateway/observe/access_log.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace observe = idem::gateway::observe;

namespace {

struct pipe_pair {
    int ends[2] = {-1, -1};
    pipe_pair() { REQUIRE(pipe(ends) == 0); }
    ~pipe_pair() {
        close_read();
        if (ends[1] >= 0) close(ends[1]);
    }
    void close_read() {
        if (ends[0] >= 0) close(ends[0]);
        ends[0] = -1;
    }
    void close_write() {
        close(ends[1]);
        ends[1] = -1;
    }
    std::string read_all() const {
        std::string out;
        char buffer[65536];
        for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
            out.append(buffer, static_cast<std::size_t>(n));
        return out;
    }
};

observe::access_record record() {
    observe::access_record r;
    r.path = "/v1/chat/completions";
    r.status = 200;
    return r;
}

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("every line of every thread arrives whole") {
    pipe_pair p;
    std::string got;
    std::thread reader([&] { got = p.read_all(); });
    {
        observe::access_log log(true, p.ends[1]);
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < 4; ++t) {
            threads.emplace_back([&log, t] {
                for (int i = 0; i < 500; ++i) log.log(t, record());
                log.flush(t);
            });
        }
        for (auto& t : threads) t.join();
        CHECK(log.dropped() == 0);
    }
    p.close_write();
    reader.join();
    CHECK(lines(got) == 2000);
    CHECK(got.starts_with("{\"ts\":"));
}

TEST_CASE("a reader that does not read stalls nobody and costs bounded memory") {
    pipe_pair p;
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t dropped = 0;
    {
        observe::access_log log(true, p.ends[1]);
        for (int i = 0; i < 60'000; ++i) log.log(0, record());  // about 15 MB; pipe and queue hold a little over 8
        dropped = log.dropped();
        CHECK(dropped > 0);
        CHECK(dropped < 60'000);
    }
    // The destructor gives up after a second.
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("a reader that went away is no signal") {
    pipe_pair p;
    p.close_read();
    observe::access_log log(true, p.ends[1]);
    log.log(0, record());
    log.flush(0);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (log.dropped() == 0 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    CHECK(log.dropped() == 1);
}

TEST_CASE("switched off it writes nothing") {
    pipe_pair p;
    {
        observe::access_log log(false, p.ends[1]);
        log.log(0, record());
        log.flush(0);
    }
    p.close_write();
    CHECK(p.read_all().empty());
}
