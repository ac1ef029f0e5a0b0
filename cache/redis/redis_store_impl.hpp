#pragma once
// The class behind make_redis(); see redis_store.hpp for its contract. Its members are in redis_store.cpp (entries,
// epochs, bindings), redis_coordination.cpp (records, leases) and redis_ledger.cpp.
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/redis/clients.hpp"
#include "cache/redis/redis_store.hpp"
#include "cache/redis/script.hpp"

namespace idem::cache {

class redis_store final : public store {
public:
    explicit redis_store(redis_options o);

    [[nodiscard]] std::string_view name() const noexcept override { return "redis"; }
    [[nodiscard]] upstream::net::task<lookup> find(cache_key key, unix_ms now) override;
    [[nodiscard]] upstream::net::task<put_result> put(entry_ptr value, id128 replaces, unix_ms now) override;
    [[nodiscard]] upstream::net::task<erase_status> erase(cache_key key) override;
    [[nodiscard]] upstream::net::task<entry_page> list(std::string from, std::size_t most) override;
    [[nodiscard]] upstream::net::task<bind_result> bind(binding wanted, unix_ms now) override;
    [[nodiscard]] upstream::net::task<record_result> read_record(std::string name) override;
    [[nodiscard]] upstream::net::task<record_result> write_record(std::string name, std::string value,
                                                                  std::uint64_t expected) override;
    [[nodiscard]] upstream::net::task<lease_result> lease(std::string name, id128 holder,
                                                          std::chrono::milliseconds length) override;
    [[nodiscard]] upstream::net::task<lease_result> release(std::string name, id128 holder, bool settled) override;
    [[nodiscard]] bool keeps_ledger() const noexcept override { return options_.ledger.count() > 0; }
    [[nodiscard]] upstream::net::task<noted> note(ledger_record fill) override;
    [[nodiscard]] upstream::net::task<ledger_page> read_ledger(std::string from) override;
    [[nodiscard]] store_stats stats() const override;
    [[nodiscard]] const outage_watch* outages() const noexcept override { return &health_.outages(); }
    void close() noexcept override { clients_.close(); }

private:
    using answer = redis::client::answer;

    // One call of the store: its thread's client, and the time by which it ends whatever happens.
    struct call {
        redis::client* client = nullptr;
        upstream::net::time_point limit;
        reason why = reason::none;  // set: do not ask
    };
    [[nodiscard]] call begin(const upstream::net::executor& on);
    /// What every answer tells about the health of Redis.
    void hear(const answer& a);
    /// SET NX GET, or the script where Redis is older or a dead value is to be replaced. `dead_head`: its first bytes.
    [[nodiscard]] upstream::net::task<answer> create(call c, std::string name, std::shared_ptr<const std::string> value,
                                                     std::int64_t ttl_ms, std::optional<std::string> dead_head);
    [[nodiscard]] upstream::net::task<answer> run(call c, const redis::script& what, std::string name,
                                                  std::span<const std::string_view> arguments);
    [[nodiscard]] upstream::net::task<lease_result> about_lease(const redis::script& what, std::string name,
                                                                id128 holder, std::chrono::milliseconds lives,
                                                                bool settled);
    [[nodiscard]] upstream::net::task<put_result> store_first(entry_ptr value, id128 replaces, unix_ms now);
    [[nodiscard]] upstream::net::task<ledger_page> read_ledgers(call c, std::vector<std::string> names);
    static void distrust_stranger(const call& c, const cache_key& key, const answer& a);
    [[nodiscard]] lookup judge(const cache_key& key, const answer& a, unix_ms now) const;

    const redis_options options_;
    const redis::script put_{redis::put_script}, record_{redis::record_script}, lease_{redis::lease_script},
        release_{redis::release_script}, ledger_{redis::ledger_script};
    redis::monitor health_;
    std::atomic<bool> before_7_{false};  // SET NX GET was refused once: the script does it from then on
    struct {
        std::atomic<std::uint64_t> stored{0}, lost{0}, refused{0}, failed_reads{0}, failed_writes{0}, timeouts{0};
    } counts_;
    redis::clients clients_;
};

}  // namespace idem::cache
