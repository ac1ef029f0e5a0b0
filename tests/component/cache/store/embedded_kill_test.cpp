// kill -9 of a process that writes through the store. What it was told is stored must be there afterwards, every entry
// must be whole or absent.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>

#include "tests/component/cache/store/embedded_support.hpp"

using namespace idem;
using namespace idem::test;
using cache::lookup_status;

namespace {

constexpr int rounds = 10;
constexpr int most = 20'000;
constexpr int writers = 8;

// Shared between writer and killer.
struct progress {
    std::atomic<int> begun{0};
    std::atomic<int> acknowledged{0};
    std::atomic<bool> told[most];
};

std::string name(int round, int i) {
    return "k" + std::to_string(round) + "," + std::to_string(i);
}

std::string body(int round, int i) {
    std::string text;
    for (int n = 0; n < 20 + i % 100; ++n) text += to_hex(sha256(name(round, i) + std::to_string(n)).bytes);
    return text;
}

net::task<void> write(cache::store& store, progress& p, int round) {
    for (;;) {
        const int i = p.begun.fetch_add(1);
        if (i >= most) co_return;
        auto result = co_await store.put(lasting(name(round, i), body(round, i)), {}, now);
        if (result.status != cache::put_status::stored) ::_exit(3);
        p.told[i].store(true);
        p.acknowledged.fetch_add(1);
    }
}

[[noreturn]] void writer(const std::string& path, progress& p, int round) {
    const auto store = open(path);
    net::asio::io_context context(1);
    for (int i = 0; i < writers; ++i)
        net::asio::co_spawn(context.get_executor(), write(*store, p, round), [](std::exception_ptr) {});
    context.run();
    ::_exit(0);
}

}  // namespace

TEST_CASE("after kill -9 every acknowledged entry is there and none is torn") {
    const scratch dir;
    void* const memory = ::mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    for (int round = 0; round < rounds; ++round) {
        auto& p = *new (memory) progress;
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) writer(dir.path(), p, round);
        // At another point each round, in the middle of the writing.
        const int until = 20 + round * 37;
        const bool wrote = eventually([&] { return p.acknowledged.load() >= until; }, 60s);
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(wrote);
        REQUIRE(WIFSIGNALED(status));

        const auto store = open(dir.path());
        CHECK(store->stats().healthy);
        int lost = 0, torn = 0, whole = 0;
        for (int i = 0; i < std::min(p.begun.load(), most); ++i) {
            const auto found = find(*store, name(round, i));
            if (found.status == lookup_status::found) {
                ++whole;
                torn += !same(*found.value, *lasting(name(round, i), body(round, i)));
            } else {
                torn += found.status != lookup_status::absent;
                lost += p.told[i].load();
            }
        }
        CHECK(lost == 0);
        CHECK(torn == 0);
        CHECK(whole >= until);
        // Nor has any earlier round lost something by this one.
        if (round > 0) CHECK(find(*store, name(round - 1, 0)).status == lookup_status::found);
    }
    CHECK(outside(dir.path()).ask("PRAGMA integrity_check") == "ok");
    ::munmap(memory, sizeof(progress));
}
