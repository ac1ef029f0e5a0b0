#pragma once
// One connection to the simulated engine. Lives on the thread of its socket; owned by the worker that accepted it,
// which outlives it.
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "upstream/http/message.hpp"
#include "upstream/net/net.hpp"
#include "upstream/simulate/engine/player.hpp"
#include "upstream/simulate/options.hpp"
#include "upstream/simulate/script.hpp"
#include "upstream/simulate/state.hpp"

namespace idem::upstream::simulate {

class session {
public:
    session(net::tcp_socket socket, const simulate_options& options, engine_state& state, std::mt19937_64& random);
    /// Serves requests until the connection ends. Never throws.
    [[nodiscard]] net::task<> run();
    /// Ends run() soon. On the session's thread.
    void close() noexcept;
    /// Whether it has been the client's turn, to write or to read, since before `limit`.
    [[nodiscard]] bool idle_since(net::time_point limit) const noexcept { return waiting_ && waiting_since_ < limit; }

private:
    enum class heard : std::uint8_t { request, refused, nothing };
    [[nodiscard]] net::task<heard> read_request();
    void keep_body(std::string_view bytes);
    [[nodiscard]] net::task<bool> respond();
    [[nodiscard]] net::task<bool> send(answer what, unsigned environment);
    [[nodiscard]] net::task<bool> flush();
    [[nodiscard]] net::task<bool> pause(net::duration length);
    [[nodiscard]] bool client_left() noexcept;
    void wait_for_client() noexcept;
    [[nodiscard]] answer make_answer(std::string_view path, unsigned environment, std::uint64_t others);
    [[nodiscard]] chance draw();
    /// Writes another environment into a piece that was planned in an earlier one.
    void restate(piece& what, std::string_view model, unsigned before, unsigned now) const;
    void count_page(const engine::page& page, bool good) noexcept;
    void append_head(const answer& what, bool chunked);

    net::tcp_socket socket_;
    net::timer timer_;
    const simulate_options& options_;
    engine_state& state_;
    counters& counts_;
    std::mt19937_64& random_;
    http::request_parser parser_;
    std::array<char, 16384> chunk_;
    std::string in_;  // received and not yet consumed
    std::string body_;
    std::string out_;
    std::uint64_t body_size_ = 0;
    bool upload_ = false;
    bool waiting_ = false;
    net::time_point waiting_since_;
};

}  // namespace idem::upstream::simulate
