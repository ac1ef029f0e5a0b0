#include "cache/store/memory.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <random>
#include <thread>
#include <vector>

#include "tests/support/sample_entry.hpp"

using namespace idem;
using namespace idem::cache;
using idem::test::sample;
using idem::test::sample_entry;
using idem::test::sample_key;

namespace {

constexpr unix_ms now = 2000;
constexpr std::size_t roomy = 8 << 20;

std::string name(const char* prefix, std::size_t i) {
    return prefix + std::to_string(i);
}

}  // namespace

TEST_CASE("what was put is found, by pointer") {
    memory_store store(roomy);
    const entry_ptr e = sample("a");
    CHECK(store.find(e->key, now) == nullptr);
    CHECK(store.put(e, now) == e);
    CHECK(store.find(e->key, now) == e);
    CHECK(store.find(sample_key("b"), now) == nullptr);
    CHECK(store.stats().entries == 1);
    CHECK(store.stats().bytes == charge(*e));
}

TEST_CASE("what it does not take is neither kept nor said to be") {
    const entry_ptr e = sample("a");
    for (const std::size_t capacity : {std::size_t{0}, 2 * charge(*e) - 1}) {
        memory_store small(capacity);
        CHECK_FALSE(small.takes(*e));
        CHECK(small.put(e, now) == e);
        CHECK(small.find(e->key, now) == nullptr);
    }
    CHECK(memory_store(2 * charge(*e)).takes(*e));
}

TEST_CASE("the first writer wins") {
    memory_store store(roomy);
    const entry_ptr first = sample("a", "1"), second = sample("a", "2");
    CHECK(store.put(first, now) == first);
    CHECK(store.put(second, now) == first);
    CHECK(store.find(first->key, now) == first);
}

TEST_CASE("an expired entry is not found and is replaced") {
    memory_store store(roomy);
    const entry_ptr first = sample("a", "1"), second = sample("a", "2", 4'000'000);
    store.put(first, now);
    CHECK(store.find(first->key, first->fresh_until - 1) == first);
    CHECK(store.put(second, first->fresh_until) == second);
    CHECK(store.find(first->key, first->fresh_until) == second);
    CHECK(store.find(first->key, second->fresh_until) == nullptr);
    CHECK(store.stats().entries == 0);
    CHECK(store.stats().bytes == 0);
}

TEST_CASE("erase") {
    memory_store store(roomy);
    store.put(sample("a"), now);
    CHECK(store.erase(sample_key("a")));
    CHECK_FALSE(store.erase(sample_key("a")));
    CHECK(store.find(sample_key("a"), now) == nullptr);
    CHECK(store.stats().bytes == 0);
}

TEST_CASE("capacity 0 keeps nothing") {
    memory_store store(0);
    const entry_ptr e = sample("a");
    CHECK(store.put(e, now) == e);
    CHECK(store.find(e->key, now) == nullptr);
    CHECK_FALSE(store.erase(e->key));
}

TEST_CASE("a large entry fits up to half the budget, whatever the shards hold") {
    memory_store store(64 << 20);
    for (std::size_t i = 0; i < 70; ++i) store.put(sample(name("filler", i), std::string(1 << 20, 'x')), now);
    const entry_ptr large = sample("large", std::string(30 << 20, 'x'));
    store.put(large, now);
    CHECK(store.find(large->key, now) == large);
    CHECK(store.stats().bytes <= 64u << 20);
    const entry_ptr larger = sample("larger", std::string(33 << 20, 'x'));
    CHECK(store.put(larger, now) == larger);
    CHECK(store.find(larger->key, now) == nullptr);
    CHECK(store.find(large->key, now) == large);
}

TEST_CASE("the byte bound holds after any sequence of calls") {
    CHECK(rc::check([] {
        const std::size_t capacity = *rc::gen::inRange<std::size_t>(0, 40'000);
        memory_store store(capacity);
        const auto steps = *rc::gen::container<std::vector<std::pair<std::uint8_t, std::uint16_t>>>(
            rc::gen::pair(rc::gen::arbitrary<std::uint8_t>(), rc::gen::inRange<std::uint16_t>(0, 6000)));
        std::size_t evicted_or_less = 0;
        for (const auto& [what, size] : steps) {
            const std::string key = name("k", what % 32u);
            if (what >= 224)
                store.erase(sample_key(key));
            else if (what >= 192)
                (void)store.find(sample_key(key), now);
            else {
                const entry_ptr e = sample(key, std::string(size, 'x'));
                const entry_ptr holds = store.put(e, now);
                RC_ASSERT(holds->key == e->key);
                if (charge(*e) <= capacity / 2) RC_ASSERT(store.find(e->key, now) == holds);
            }
            RC_ASSERT(store.stats().bytes <= capacity);
            evicted_or_less = store.stats().entries;
        }
        for (int i = 0; i < 32; ++i) evicted_or_less -= store.erase(sample_key(name("k", static_cast<unsigned>(i))));
        RC_ASSERT(evicted_or_less == 0u);
        RC_ASSERT(store.stats().bytes == 0u);
    }));
}

// A hundred entries in use, and a scan of twenty times the capacity of keys that are asked for once.
TEST_CASE("a scan does not drive out what is in use") {
    memory_store store(2 << 20);
    const std::string body(4000, 'x');
    for (std::size_t i = 0; i < 100; ++i) store.put(sample(name("hot", i), body), now);
    for (int round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < 100; ++i) (void)store.find(sample_key(name("hot", i)), now);
    for (std::size_t i = 0; i < 10'000; ++i) store.put(sample(name("scan", i), body), now);
    std::size_t still = 0;
    for (std::size_t i = 0; i < 100; ++i) still += store.find(sample_key(name("hot", i)), now) != nullptr;
    CHECK(still == 100);
    CHECK(store.stats().evictions > 9'000);
}

TEST_CASE("a key that comes back soon after it left goes to main") {
    memory_store store(1 << 20);
    const std::string body(4000, 'x');
    for (std::size_t i = 0; i < 220; ++i) store.put(sample(name("fill", i), body), now);
    // The oldest have just left unused; one returns and then survives a scan without a single further use.
    REQUIRE(store.find(sample_key("fill0"), now) == nullptr);
    store.put(sample("fill0", body), now);
    for (std::size_t i = 0; i < 300; ++i) store.put(sample(name("scan", i), body), now);
    CHECK(store.find(sample_key("fill0"), now) != nullptr);
}

TEST_CASE("skewed traffic: hit ratio above that of a plain FIFO") {
    constexpr std::size_t capacity = 1 << 20;
    const std::string body(4000, 'x');
    std::mt19937 random(7);
    // Zipf with exponent 1 over 5,000 keys; about 220 fit.
    std::vector<double> weights;
    for (int i = 1; i <= 5000; ++i) weights.push_back(1.0 / i);
    std::discrete_distribution<std::size_t> zipf(weights.begin(), weights.end());
    memory_store store(capacity);
    const std::size_t fits = capacity / charge(*sample("k0", body));
    std::deque<std::size_t> fifo;
    std::vector<bool> in_fifo(5000);
    std::size_t hits = 0, fifo_hits = 0;
    for (int i = 0; i < 40'000; ++i) {
        const std::size_t key = zipf(random);
        if (store.find(sample_key(name("k", key)), now) != nullptr)
            ++hits;
        else
            store.put(sample(name("k", key), body), now);
        if (in_fifo[key]) {
            ++fifo_hits;
            continue;
        }
        in_fifo[key] = true;
        fifo.push_back(key);
        if (fifo.size() > fits) {
            in_fifo[fifo.front()] = false;
            fifo.pop_front();
        }
    }
    MESSAGE("hits of 40000: " << hits << ", plain FIFO " << fifo_hits);
    CHECK(static_cast<double>(hits) > 1.1 * static_cast<double>(fifo_hits));
}

TEST_CASE("many threads: one winner a key, right bytes, bound kept") {
    constexpr std::size_t capacity = 16 << 20;
    memory_store store(capacity);
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            std::mt19937 random(t);
            for (int i = 0; i < 3000; ++i) {
                const std::string key = name("k", random() % 500);
                const std::size_t size = random() % 64 == 0 ? 5 << 20 : random() % 100'000;
                if (random() % 3 == 0) {
                    const entry_ptr e = store.put(sample(key, std::string(size, 'x')), now);
                    if (e->key != sample_key(key)) wrong = true;
                } else if (random() % 50 == 0) {
                    store.erase(sample_key(key));
                } else if (const entry_ptr e = store.find(sample_key(key), now)) {
                    if (e->key != sample_key(key)) wrong = true;
                }
                if (store.stats().bytes > capacity) wrong = true;
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK_FALSE(wrong);
    for (std::size_t i = 0; i < 500; ++i) store.erase(sample_key(name("k", i)));
    CHECK(store.stats().bytes == 0);
    CHECK(store.stats().entries == 0);
}

TEST_CASE("of racing writers all are told the same winner") {
    for (int round = 0; round < 50; ++round) {
        memory_store store(roomy);
        std::array<entry_ptr, 4> told;
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < told.size(); ++t)
            threads.emplace_back([&, t] { told[t] = store.put(sample("k", name("body", t)), now); });
        for (auto& thread : threads) thread.join();
        for (const auto& e : told) CHECK(e == store.find(sample_key("k"), now));
    }
}

TEST_CASE("what is purged is not found, whatever was checked before") {
    bans purged;
    state_record r = begin_state(7, 1, std::nullopt);
    purged.set(r);
    memory_store store(roomy, &purged);
    const auto made = [](const char* name, std::uint64_t sequence) {
        entry e = sample_entry(name, "1");
        e.ban = ban_mark(7, sequence);
        e.tags = {name};
        return std::make_shared<const entry>(std::move(e));
    };
    const entry_ptr a = made("a", 1), b = made("b", 1);
    store.put(a, now);
    store.put(b, now);
    CHECK(store.find(a->key, now) == a);
    add_ban(r, ban_kind::tag, "a", false, 0);
    commit(r, 2);
    CHECK(store.count(ban_table(r)) == 1);
    purged.set(r);
    CHECK(store.find(b->key, now) == b);
    CHECK(store.find(a->key, now) == nullptr);
    CHECK(store.stats().entries == 1);
    // Begun before the purge and stored after it; and one that began after it.
    CHECK(store.put(a, now) == a);
    CHECK(store.find(a->key, now) == nullptr);
    const entry_ptr again = made("a", 2);
    CHECK(store.put(again, now) == again);
    CHECK(store.find(a->key, now) == again);
    // A copy that was found to be good is not held against older bans again.
    CHECK(store.put(made("c", 1), now, 2, 0) != nullptr);
    CHECK(store.find(sample_key("c"), now) != nullptr);
    // What nobody looked at since before the horizon may have been purged by what is forgotten.
    add_ban(r, ban_kind::key, std::string(64, 'f'), false, 5);
    commit(r, 3);
    CHECK(drop_settled(r, 6).size() == 1);
    purged.set(r);
    CHECK(store.find(a->key, now) == nullptr);
    CHECK(store.drop_purged() == 2);
    CHECK(store.stats().entries == 0);
    CHECK(store.stats().bytes == 0);
}

TEST_CASE("after an outage an entry is confirmed once, by whoever comes first") {
    outage_watch second;
    memory_store store(roomy);
    store.watch(&second);
    const entry_ptr a = sample("a"), b = sample("b");
    bool confirmed = true;
    store.put(a, now, 0, second.count.load());
    store.put(b, now);  // the second tier does not have it
    CHECK(store.find(a->key, now, confirmed) == a);
    CHECK(confirmed);
    CHECK_FALSE(store.claim(a->key));
    CHECK(store.find(b->key, now, confirmed) == b);
    CHECK_FALSE(confirmed);
    second.count.fetch_add(1);
    CHECK(store.find(a->key, now, confirmed) == a);
    CHECK_FALSE(confirmed);
    CHECK(store.claim(a->key));
    CHECK_FALSE(store.claim(a->key));
    CHECK(store.find(a->key, now, confirmed) == a);
    CHECK(confirmed);
    store.doubt(a->key);
    CHECK(store.find(a->key, now, confirmed) == a);
    CHECK_FALSE(confirmed);
    CHECK_FALSE(store.claim(sample_key("none")));
    CHECK(store.find(sample_key("none"), now, confirmed) == nullptr);
    CHECK(confirmed);
}
