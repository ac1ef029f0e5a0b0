#pragma once
// Counters of a simulated engine. Thread-safe; a snapshot is not one moment of all counters.
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace idem::upstream::simulate {

struct simulate_stats {
    std::uint64_t calls = 0;      // requests for a model's work
    std::uint64_t current = 0;    // of these, being answered now
    std::uint64_t peak = 0;       // most at one time
    std::uint64_t failed = 0;     // answered with a status other than 200
    std::uint64_t cut = 0;        // ended by cut_after
    std::uint64_t abandoned = 0;  // the client left before the end
    std::uint64_t probes = 0;     // health checks
    std::uint64_t generated = 0;  // of these, joined the batch
    std::uint64_t resets = 0;     // kept prompts were forgotten on demand
};

class counters {
public:
    static constexpr std::array<std::string_view, 15> paths = {"/v1/chat/completions",
                                                               "/v1/completions",
                                                               "/v1/embeddings",
                                                               "/v1/responses",
                                                               "/v1/messages",
                                                               "/v1/messages/count_tokens",
                                                               "/v1/moderations",
                                                               "/v1/images/generations",
                                                               "/v1/audio/speech",
                                                               "/v1/fim/completions",
                                                               "/v1/models",
                                                               "/v1/files",
                                                               "/health",
                                                               "/simulate/stats",
                                                               "other"};

    void request(std::string_view path) noexcept;
    void call_begins() noexcept;
    void call_ends() noexcept { current_.fetch_sub(1, std::memory_order_relaxed); }
    void failed() noexcept { failed_.fetch_add(1, std::memory_order_relaxed); }
    void cut() noexcept { cut_.fetch_add(1, std::memory_order_relaxed); }
    void probed(bool generated) noexcept;
    void reset() noexcept { resets_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t current() const noexcept { return current_.load(std::memory_order_relaxed); }
    void abandoned() noexcept { abandoned_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] simulate_stats snapshot() const noexcept;
    /// {"calls","paths":{…},"concurrency":{"current","peak"},"failed","cut","abandoned","health":{"probes","generated"},
    /// "resets"}
    [[nodiscard]] std::string json() const;

private:
    std::array<std::atomic<std::uint64_t>, paths.size()> requests_{};
    std::atomic<std::uint64_t> calls_{0};
    std::atomic<std::uint64_t> current_{0};
    std::atomic<std::uint64_t> peak_{0};
    std::atomic<std::uint64_t> failed_{0};
    std::atomic<std::uint64_t> cut_{0};
    std::atomic<std::uint64_t> abandoned_{0};
    std::atomic<std::uint64_t> probes_{0};
    std::atomic<std::uint64_t> generated_{0};
    std::atomic<std::uint64_t> resets_{0};
};

}  // namespace idem::upstream::simulate
