#pragma once
// Getting a request onto a replica: which one, and whether to try another. Retries happen only before the client was
// told anything, and within the upstream's retry budget.
#include <memory>
#include <optional>

#include "gateway/pipeline/held_slot.hpp"
#include "gateway/pipeline/services.hpp"
#include "upstream/client/exchange.hpp"

namespace idem::gateway::pipeline {

/// The exchange that open_exchange() is busy with or has opened, for whoever may have to end it meanwhile. One thread.
class live_exchange {
public:
    /// Nobody wants the answer any more: the exchange ends, and no other is begun.
    void abort() noexcept {
        aborted_ = true;
        stop();
    }
    [[nodiscard]] bool aborted() const noexcept { return aborted_; }
    /// The replica is gone: the exchange ends, and another may be begun with another replica.
    void lose() noexcept {
        lost_ = true;
        stop();
    }
    [[nodiscard]] bool lost() const noexcept { return lost_; }
    /// Either: there is nothing to wait for.
    [[nodiscard]] const bool& stopped() const noexcept { return stopped_; }
    /// With another replica.
    void go_on() noexcept {
        lost_ = false;
        stopped_ = aborted_;
    }
    void set(upstream::client::exchange* now) noexcept { now_ = now; }
    void set_waiting(net::event* on) noexcept { waiting_ = on; }

private:
    void stop() noexcept {
        stopped_ = true;
        if (now_) now_->abort();
        if (waiting_) waiting_->notify();
    }
    upstream::client::exchange* now_ = nullptr;
    net::event* waiting_ = nullptr;
    bool aborted_ = false;
    bool lost_ = false;
    bool stopped_ = false;
};

struct attempt_order {
    const route_plan* route = nullptr;
    digest pin;                       // replicas are ranked by it
    upstream::client::outgoing& out;  // its target is set for each replica
    std::string_view target;          // as the client sent it
    std::string_view body;            // whole, or empty where it is streamed after opening
    bool read_head = false;           // the body is whole: go on until the head was read
    bool repeatable = false;          // running the request twice does no harm
    upstream::route::call_kind kind;  // as far as is known; sampled where it is not
    live_exchange& live;              // outlives what is opened
    // Set where nothing but an admitted replica will do: what it must be in, the epoch's.
    std::optional<digest> environment{};
    digest caller{};  // whose limits count, where there are any
};

struct attempt {
    attempt() = default;
    explicit attempt(call_pass allowed) noexcept : pass(std::move(allowed)) {}
    attempt(attempt&&) = default;
    attempt& operator=(attempt&&) = delete;
    /// The slot is free where the exchange came to its end; else when the engine has ended the call.
    ~attempt() {
        if (opened && opened->complete()) slot.done();
    }
    call_pass pass;
    held_slot slot;                                      // goes after the exchange
    std::unique_ptr<upstream::client::exchange> opened;  // null: `failed`
    bool head_read = false;                              // of `opened`
    const config::replica* replica = nullptr;
    upstream::determinism::condition before;  // of `replica`, when it was asked; where it is watched
    upstream::client::failure failed;
    std::uint32_t retries = 0;
    std::uint32_t retry_after = 1;  // seconds, with a failure that waiting mends
};
[[nodiscard]] net::task<attempt> open_exchange(services& at, attempt_order order);

/// Whose credential went upstream.
struct presented_credential {
    std::optional<digest> value;  // as the proof table knows it; absent: nobody's in particular
    bool proves = false;          // answers are shared beyond the credential: a success is its proof
};

/// After the exchange: for the replica's health, the credential's proof and the metrics. `status` 0: no head was read.
/// `sent`: bytes of the request were written; a deadline that passed before is one of connecting.
void report_exchange(services& at, const route_plan& route, const config::replica& replica, unsigned status,
                     const upstream::client::failure& broke, std::uint32_t ms, presented_credential credential = {},
                     bool sent = true);

/// Keeps away from a replica whose 503 says for how long.
void heed_retry_after(services& at, const route_plan& route, const config::replica& replica,
                      const upstream::http::response_head& head);

/// The upstream answered 401 or 403 to this credential: nothing from the cache until it succeeds again.
void report_refusal(services& at, const route_plan& route, const digest& credential);

}  // namespace idem::gateway::pipeline
