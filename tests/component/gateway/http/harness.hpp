#pragma once
// A server on a thread of its own with a handler that acts by the request's path, and a blocking client with a
// deadline.
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gateway/http/server.hpp"
#include "upstream/net/event.hpp"

namespace idem::tests {

namespace http = gateway::http;
namespace net = upstream::net;

/// What the handler was asked, for the test's thread.
struct seen_request {
    std::string method, target, body;
    std::vector<std::pair<std::string, std::string>> fields;
};

struct refusal {
    unsigned status = 0;
    reason why = reason::none;
    std::string method, detail;
};

/// Paths: /quick answered at once; the others are named in harness.cpp.
class path_handler final : public http::handler {
public:
    explicit path_handler(net::executor on) : woken(on) {}
    bool answer_at_once(const http::request_head& head, std::string_view body, const http::peer& client,
                        net::time_point started, http::quick_reply& out) override;
    void done(const http::quick_reply& reply, std::uint64_t bytes_in, std::uint64_t bytes_out,
              net::error_code ec) override;
    net::task<void> serve(http::transaction& t) override;
    std::string refused(const http::request_head& head, const http::peer& client, unsigned status, reason why,
                        std::string_view detail) override;

    [[nodiscard]] std::vector<seen_request> requests() const;
    [[nodiscard]] std::vector<refusal> refusals() const;
    void note(const http::request_head& head, std::string_view body);

    std::atomic<int> done_calls{0}, done_failures{0}, gone_calls{0}, write_errors{0}, serving{0};
    std::atomic<std::uint64_t> last_in{0}, last_out{0};
    std::string quick_body = "quick";
    std::string certificate;  // of the last client; read after its answer
    net::event woken;

private:
    mutable std::mutex mutex_;
    std::vector<seen_request> requests_;
    std::vector<refusal> refusals_;
};

class running_server {
public:
    explicit running_server(http::server_limits limits = {}, std::shared_ptr<boost::asio::ssl::context> tls = nullptr);
    ~running_server();
    [[nodiscard]] std::uint16_t port() const { return server_->port(); }
    [[nodiscard]] http::server_counters counters() const { return server_->counters(); }
    /// Runs `work` on the server's thread and waits for it.
    void on_thread(std::function<void()> work);
    [[nodiscard]] http::server& server() { return *server_; }
    path_handler& handler() { return *handler_; }

private:
    boost::asio::io_context context_{1};
    std::unique_ptr<path_handler> handler_;
    std::unique_ptr<http::server> server_;
    std::thread thread_;
};

/// One response as it came over the wire.
struct answer {
    unsigned status = 0;
    std::map<std::string, std::string> fields;  // names in lower case
    std::string body, trailers;
    bool clean = false;  // the framing was complete
};

/// A blocking client socket; every wait ends after 10 s. Never throws: failures are empty or unclean answers.
class raw_client {
public:
    explicit raw_client(std::uint16_t port, int receive_buffer = 0);
    ~raw_client();
    raw_client(const raw_client&) = delete;
    raw_client& operator=(const raw_client&) = delete;
    bool send(std::string_view bytes);
    /// Reads one answer, 1xx skipped unless asked for. `to_head`: no body follows.
    [[nodiscard]] answer read_answer(bool to_head = false, bool interim = false);
    /// Reads until the end; true if the end was a FIN and not a reset.
    bool read_to_end(std::string& bytes);
    void shutdown_send();
    void close();
    [[nodiscard]] int fd() const { return fd_; }

private:
    bool fill();
    int fd_ = -1;
    std::string buffer_;
};

/// Polls until the predicate holds, at most 10 s.
bool eventually(const std::function<bool()>& holds);

}  // namespace idem::tests
