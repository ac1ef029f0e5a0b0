#include "upstream/simulate/session.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <ctime>
#include <limits>

#include "upstream/simulate/choices.hpp"
#include "upstream/simulate/shown.hpp"

namespace idem::upstream::simulate {
namespace {

constexpr std::size_t max_body = std::size_t{64} << 20;
constexpr std::size_t upload_head = std::size_t{64} << 10;  // of an upload only the beginning is kept
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";
// How late a client that left is noticed while an answer is being held back.
constexpr auto glance = std::chrono::milliseconds(50);

std::string_view path_of(std::string_view target) noexcept {
    return target.substr(0, target.find('?'));
}

}  // namespace

session::session(net::tcp_socket socket, const simulate_options& options, engine_state& state, std::mt19937_64& random)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      options_(options),
      state_(state),
      counts_(state.counts),
      random_(random) {
    net::error_code ignored;
    socket_.set_option(net::tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
}

void session::close() noexcept {
    net::error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
}

net::task<> session::run() {
    bool alive = true;
    while (alive) {
        const heard what = co_await read_request();
        if (what == heard::nothing) break;
        if (what == heard::refused) {
            out_.append("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            co_await flush();
            break;
        }
        alive = co_await respond();
    }
    close();
}

net::task<session::heard> session::read_request() {
    parser_.reset();
    body_.clear();
    body_size_ = 0;
    upload_ = false;
    std::size_t used = 0;
    for (;;) {
        const http::parsed p = parser_.next(std::string_view(in_).substr(used));
        used += p.consumed;
        if (p.event == http::parse_event::error) co_return heard::refused;
        if (p.event == http::parse_event::complete) break;
        if (p.event == http::parse_event::body) {
            keep_body(p.body);
            if (!upload_ && body_size_ > max_body) co_return heard::refused;
            continue;
        }
        if (p.event == http::parse_event::head) {
            upload_ = path_of(parser_.head().target) == "/v1/files";
            if (!parser_.head().expect_continue) continue;
            out_.append(continue_line);
            const bool sent = co_await flush();
            if (!sent) co_return heard::nothing;
            continue;
        }
        in_.erase(0, used);
        used = 0;
        wait_for_client();
        auto [ec, n] = co_await socket_.async_read_some(net::asio::buffer(chunk_), net::use_task);
        waiting_ = false;
        in_.append(chunk_.data(), n);
        if (ec) co_return heard::nothing;
    }
    in_.erase(0, used);
    co_return heard::request;
}

void session::keep_body(std::string_view bytes) {
    body_size_ += bytes.size();
    if (upload_) bytes = bytes.substr(0, upload_head - std::min(body_.size(), upload_head));
    body_.append(bytes);
}

net::task<bool> session::respond() {
    const std::string path(path_of(parser_.head().target));
    const engine::page* page = page_of(options_, parser_.head().method, parser_.head().target);
    const bool probe = page && page->kind == engine::page_kind::generating;
    const bool model_call = probe || is_model_call(parser_.head().method, path);
    counts_.request(path);
    const std::uint64_t others = counts_.current();
    if (model_call) counts_.call_begins();
    const unsigned environment = state_.environment();
    answer what = make_answer(path, environment, others);
    if (page) count_page(*page, what.status == 200);
    if (what.status != 200) counts_.failed();
    const bool sent = co_await send(std::move(what), environment);
    if (model_call) counts_.call_ends();
    const bool again = sent && parser_.head().keep_alive;
    co_return again;
}

answer session::make_answer(std::string_view path, unsigned environment, std::uint64_t others) {
    const auto& head = parser_.head();
    if (path == "/simulate/stats") return object_answer(counts_.json());
    if (path == "/simulate/environment" && head.method == "POST") {
        return object_answer(R"({"environment":)" + std::to_string(state_.change_environment()) + "}");
    }
    chance luck = draw();
    luck.environment = environment;
    luck.running = others;
    luck.starting = state_.starting();
    luck.process = state_.process;
    luck.memory = &state_.memory;
    if (upload_ && head.method == "POST") return plan_upload(body_, body_size_, luck);
    return plan(options_, head.method, head.target, body_, luck);
}

void session::restate(piece& what, std::string_view model, unsigned before, unsigned now) const {
    const std::string was = mark_of(options_, model, before);
    const std::string is = mark_of(options_, model, now);
    if (was.empty()) return;
    for (std::size_t at = 0; (at = what.bytes.find(was, at)) != std::string::npos; at += is.size()) {
        what.bytes.replace(at, was.size(), is);
    }
}

void session::count_page(const engine::page& page, bool good) noexcept {
    if (page.kind == engine::page_kind::health) counts_.probed(false);
    if (page.kind == engine::page_kind::generating) counts_.probed(good);
    if (page.kind != engine::page_kind::reset || !good) return;
    counts_.reset();
    state_.memory.forget();
}

chance session::draw() {
    std::uniform_real_distribution<double> unit;
    chance luck;
    luck.error = unit(random_);
    luck.flip = unit(random_);
    luck.seed = random_();
    luck.id = random_();
    luck.now = std::time(nullptr);
    return luck;
}

void session::append_head(const answer& what, bool chunked) {
    http::append_status_line(out_, what.status);
    http::append_field(out_, "Server", options_.engine);
    http::append_field(out_, "Content-Type", what.content_type);
    if (chunked) {
        http::append_field(out_, "Transfer-Encoding", "chunked");
    } else if (!what.stream) {
        std::size_t size = 0;
        for (const piece& p : what.pieces) size += p.bytes.size();
        http::append_field(out_, "Content-Length", std::to_string(size));
    }
    if (!parser_.head().keep_alive || (what.stream && !chunked)) http::append_field(out_, "Connection", "close");
    out_.append("\r\n");
}

net::task<bool> session::send(answer what, unsigned environment) {
    const bool chunked = what.stream && parser_.head().version == 11;
    const bool head_only = parser_.head().method == "HEAD";
    std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
    if (what.model_call && options_.cut_after) left = *options_.cut_after;
    bool first = true;
    for (piece& p : what.pieces) {
        if (p.wait.count() > 0) {
            bool alive = co_await flush();
            if (alive) alive = co_await pause(p.wait);
            if (!alive) co_return false;
        }
        // After the wait: an engine is silent until it has something to say, and says where it is then.
        if (const unsigned now = state_.environment(); now != environment) restate(p, what.model, environment, now);
        if (first) append_head(what, chunked);
        first = false;
        if (head_only) continue;
        const std::string_view bytes =
            std::string_view(p.bytes).substr(0, std::min<std::uint64_t>(left, p.bytes.size()));
        if (chunked && !bytes.empty()) {
            char size[20];
            out_.append(size, std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr);
            out_.append("\r\n").append(bytes).append("\r\n");
        } else {
            out_.append(bytes);
        }
        left -= bytes.size();
        if (bytes.size() < p.bytes.size()) break;
    }
    // A body of exactly that length counts as cut too: a stream loses its last chunk.
    const bool cut = what.model_call && options_.cut_after && left == 0;
    if (chunked && !cut) out_.append("0\r\n\r\n");
    const bool sent = co_await flush();
    if (cut) counts_.cut();
    co_return sent && !cut && (chunked || !what.stream);
}

net::task<bool> session::flush() {
    if (out_.empty()) co_return true;
    wait_for_client();
    auto [ec, n] = co_await net::asio::async_write(socket_, net::asio::buffer(out_), net::use_task);
    waiting_ = false;
    out_.clear();
    if (ec) counts_.abandoned();
    co_return !ec;
}

net::task<bool> session::pause(net::duration length) {
    const net::time_point end = net::clock::now() + length;
    for (net::time_point now = net::clock::now(); now < end; now = net::clock::now()) {
        timer_.expires_at(std::min(end, now + glance));
        auto [ec] = co_await timer_.async_wait(net::use_task);
        if (ec) co_return false;
        if (client_left()) {
            counts_.abandoned();
            co_return false;
        }
    }
    co_return true;
}

void session::wait_for_client() noexcept {
    waiting_ = true;
    waiting_since_ = net::clock::now();
}

bool session::client_left() noexcept {
    char byte = 0;
    net::error_code ec;
    socket_.receive(net::asio::buffer(&byte, 1), MSG_PEEK, ec);
    return ec && ec != net::asio::error::would_block;
}

}  // namespace idem::upstream::simulate
