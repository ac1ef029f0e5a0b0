#pragma once
// What is told of a finished request: one line of the access log and one sample of the metrics. One thread.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry/entry.hpp"
#include "gateway/http/transaction.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

/// Mints x-request-id values: "idem-" and 16 hexadecimal digits, unique in this process and unguessable across
/// processes.
class request_ids {
public:
    request_ids();
    using id = std::array<char, 21>;
    [[nodiscard]] id next() noexcept;

private:
    std::uint64_t state_;
};
[[nodiscard]] inline std::string_view view(const request_ids::id& i) noexcept {
    return {i.data(), i.size()};
}

/// A request and how it ended.
struct finished {
    std::string_view request_id, method, target;
    const http::peer* client = nullptr;
    const upstream::dialect::dialect* api = nullptr;
    const route_plan* route = nullptr;
    std::string_view model;
    bool stream = false;
    outcome what = outcome::bypass;
    reason why = reason::none;
    std::string_view tier;
    const cache::cache_key* key = nullptr;
    cache::entry_ptr answer;  // for age, tokens, saved time
    unsigned status = 0;
    bool aborted = false;
    std::uint64_t bytes_in = 0, bytes_out = 0;
    net::time_point started{}, first_byte{};
    std::string_view replica;
    unsigned upstream_status = 0;
    std::uint32_t upstream_ms = 0, retries = 0;

    /// What became of writing a whole answer.
    void written(net::error_code ec) noexcept {
        if (!ec) return;
        aborted = true;
        why = reason::client_gone;
    }
};
void report(services& at, const finished& f);

/// Quick answers that are being written. A slot is reused, so a steady load allocates nothing.
class pending_lines {
public:
    struct slot {
        request_ids::id id;
        std::string method, target;
        http::peer client;
        const upstream::dialect::dialect* api = nullptr;
        const route_plan* route = nullptr;
        cache::entry_ptr answer;
        bool stream = false;
        net::time_point started{}, first_byte{};
    };
    /// Index of a free slot.
    [[nodiscard]] std::uint64_t take();
    [[nodiscard]] slot& operator[](std::uint64_t i) noexcept { return slots_[static_cast<std::size_t>(i)]; }
    void give_back(std::uint64_t i);

private:
    std::vector<slot> slots_;
    std::vector<std::uint64_t> free_;
};

}  // namespace idem::gateway::pipeline
