#pragma once
// A real redis-server of a test's own: free loopback port, data in a temporary folder, ended by process id. Starts and
// stops block, with a deadline. One thread.
#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/certificates.hpp"
#include "tests/support/temp_dir.hpp"

namespace idem::test {

struct redis_server_options {
    std::vector<std::string> arguments;  // as on the command line, after ours
    bool unix_socket = false;
    bool tls = false;  // a second port, which asks for a client certificate
};

class redis_server {
public:
    /// Whether redis-server can be run here; a test that needs it reports SKIPPED otherwise.
    [[nodiscard]] static bool available();

    /// Starts it and waits until it answers; throws std::runtime_error if it does not within ten seconds.
    explicit redis_server(redis_server_options options = {});
    ~redis_server();
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::uint16_t tls_port() const noexcept { return tls_port_; }
    [[nodiscard]] std::string socket_path() const { return folder_.path().string() + "/redis.sock"; }
    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
    /// REQUIRES tls. Server and client certificates come from here.
    [[nodiscard]] const certificates& authority() const { return *certificates_; }

    void kill();    // SIGKILL, and waits for the end
    void stop();    // SIGTERM, and waits for the end
    void pause();   // SIGSTOP
    void resume();  // SIGCONT
    /// Starts it again on the same port after kill() or stop(); waits until it answers.
    void start();

    /// Sends one command on a connection of its own and returns the reply's bytes. Throws after five seconds without a
    /// whole reply.
    std::string command(std::initializer_list<std::string_view> words) const;

private:
    void end(int signal);

    redis_server_options options_;
    temp_dir folder_;
    std::optional<certificates> certificates_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
    pid_t process_ = -1;
};

/// Size of the first complete RESP2 value in `bytes`, 0 if there is none yet.
[[nodiscard]] std::size_t resp_size(std::string_view bytes);

}  // namespace idem::test
