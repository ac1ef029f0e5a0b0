#pragma once
// A TCP proxy in front of a Redis that a test can make misbehave while it runs: delay, drop, double, cut, garble
// replies, fall silent, refuse. It knows which reply answers which command. Runs on a thread of its own; all members
// may be called from any thread.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace idem::test {

class fault_proxy {
public:
    /// Gets the verb of a command ("GET") and the bytes of its reply; returns what is sent instead. Runs on the proxy's
    /// thread.
    using rewrite = std::function<std::string(std::string_view verb, std::string reply)>;

    explicit fault_proxy(std::uint16_t target_port);
    ~fault_proxy();
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

    /// Each reply leaves between `least` and `most` after it came, in order. Uniform, from a fixed seed.
    void delay(std::chrono::milliseconds least, std::chrono::milliseconds most);
    /// Nothing passes in either direction, and nothing is closed.
    void blackhole(bool on);
    /// Connections are accepted and closed at once.
    void refuse(bool on);
    void rewrite_replies(rewrite f);
    /// Resets all open connections.
    void cut();
    /// Connections accepted so far.
    [[nodiscard]] std::uint64_t accepted() const noexcept;
    /// Commands seen so far.
    [[nodiscard]] std::uint64_t commands() const noexcept;

private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::test
