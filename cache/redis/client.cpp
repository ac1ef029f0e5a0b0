#include "cache/redis/client.hpp"

#include <array>
#include <random>

#include "cache/redis/backoff.hpp"

namespace idem::cache::redis {

namespace net = upstream::net;
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t read_size = reply_parser::max_slice;
// How often a connection that may not try looks whether it may: with a probe a second, everybody is back within two.
constexpr std::chrono::milliseconds look_again = 200ms;
// A session that lived this long was healthy, whatever ended it.
constexpr std::chrono::seconds healthy_after = 1s;

}  // namespace

// Lives in the frame of ask().
struct client::waiter {
    explicit waiter(net::executor on) : wake(on) {}
    net::event wake;
    session_result result;
    bool done = false;
};

struct client::connection {
    connection(client& c, net::executor on)
        : owner(c),
          wake(on),
          write_wanted(on),
          write_ended(on),
          limit(on, &connection::late, this),
          random(std::random_device{}()),
          inbox(read_size, '\0') {}

    client& owner;
    std::optional<net::stream> line;
    bool dialing = false;
    bool served = false;  // this session answered a caller
    net::event wake;      // stop, while waiting out a backoff
    net::event write_wanted;
    net::event write_ended;
    net::deadline limit;  // the session's
    std::optional<session> machine;
    std::uint64_t serial = 0;
    std::uint32_t failures = 0;  // in a row
    std::string_view outgoing;   // what the kernel did not take at once of the write that the session asked for
    std::minstd_rand random;
    std::string inbox;

    static void late(void* self) noexcept {
        auto& c = *static_cast<connection*>(self);
        if (c.machine) {
            c.machine->tick(net::clock::now());
            c.pump();
        }
    }

    // Obeys the session until it has nothing more to say. Never resumes a coroutine in place.
    void pump() {
        for (;;) {
            session_action a = machine->next();
            switch (a.kind) {
                case action_kind::wait:
                    return arm();
                case action_kind::connect:
                case action_kind::read:
                    break;  // run_session() does these in its own order
                case action_kind::write:
                    write(a.bytes);
                    break;
                case action_kind::deliver: {
                    auto& w = *reinterpret_cast<waiter*>(a.token);
                    served = served || a.result.why == fault::none;
                    w.result = std::move(a.result);
                    w.done = true;
                    w.wake.notify();
                    break;
                }
                case action_kind::close:
                    limit.disarm();
                    hang_up();
                    break;
            }
        }
    }

    void write(std::string_view bytes) {
        net::error_code ec;
        const std::array<asio::const_buffer, 1> all{asio::const_buffer(bytes.data(), bytes.size())};
        const std::size_t n = line->write_now(all, ec);
        if (ec) {
            machine->lost(fault::closed);
        } else if (n == bytes.size()) {
            machine->written(net::clock::now());
        } else {
            outgoing = bytes.substr(n);
            write_wanted.notify();
        }
    }

    void hang_up() noexcept {
        if (line) {
            dialing ? net::abort_dialing(*line) : line->abort();
        }
    }

    void arm() {
        if (const auto at = machine->deadline()) {
            limit.arm(*at, net::precision::fine);
        }
    }
};

client::client(net::executor on, const client_settings& settings, monitor& health)
    : on_(on), settings_(settings), health_(health), callers_gone_(on), tasks_(on, [&health](std::exception_ptr) {
          health.say("a connection's loop ended by an exception");
      }) {}

client::~client() = default;

void client::open_connections() {
    for (std::uint32_t i = 0; i < settings_.connections; ++i) {
        connection& c = *connections_.emplace_back(std::make_unique<connection>(*this, on_));
        tasks_.spawn(run(c));
        tasks_.spawn(write_loop(c));
    }
}

client::connection* client::choose() noexcept {
    connection* best = nullptr;
    for (const auto& c : connections_) {
        if (!c->machine || !c->machine->open() || (!c->machine->ready() && c->failures > 0)) {
            continue;
        }
        const auto worse = [](const connection& x) { return std::pair(!x.machine->ready(), x.machine->load()); };
        if (best == nullptr || worse(*c) < worse(*best)) {
            best = c.get();
        }
    }
    return best;
}

net::task<client::answer> client::ask(command what, net::time_point limit) {
    if (stopping_) {
        co_return answer{.why = fault::shut_down};
    }
    if (connections_.empty()) {
        open_connections();
    }
    connection* const c = choose();
    if (c == nullptr) {
        co_return answer{.why = fault::not_connected};
    }
    waiter w(on_);
    const auto token = reinterpret_cast<std::uint64_t>(&w);
    const auto id = c->machine->enqueue(std::move(what), token, net::clock::now());
    if (!id) {
        co_return answer{.why = fault::overloaded};
    }
    // Also when this frame is destroyed while it waits.
    struct leave {
        client& self;
        connection& of;
        waiter& w;
        slot_id id;
        ~leave() {
            if (!w.done) {
                of.machine->detach(id);
            }
            if (--self.callers_ == 0) {
                self.callers_gone_.notify();
            }
        }
    };
    ++callers_;
    const leave on_exit{*this, *c, w, *id};
    const std::uint64_t serial = c->serial;
    // Not pumped here: what other requests ask in this turn of the event loop goes out in the same write.
    c->write_wanted.notify();
    while (!w.done) {
        const bool woken = co_await w.wake.wait(limit, net::precision::fine);
        if (!woken && !w.done) {
            co_return answer{.why = fault::timeout, .connection = serial};
        }
    }
    co_return answer{.why = w.result.why, .value = std::move(w.result.value), .connection = serial};
}

void client::distrust(std::uint64_t serial) {
    for (const auto& c : connections_) {
        if (c->serial == serial && c->machine) {
            c->machine->lost(fault::stranger);
            c->pump();
        }
    }
}

net::task<bool> client::stop(net::time_point limit) {
    stopping_ = true;
    for (const auto& c : connections_) {
        if (c->machine) {
            c->machine->shut_down();
            c->pump();
        }
        c->wake.notify();
        c->write_wanted.notify();
    }
    const bool joined = co_await tasks_.join(limit);
    while (callers_ > 0) {
        const bool gone = co_await callers_gone_.wait(limit);
        if (!gone) co_return false;
    }
    co_return joined;
}

net::task<> client::run(connection& c) {
    client& self = c.owner;
    while (!self.stopping_) {
        const net::time_point now = net::clock::now();
        if (!self.health_.may_connect(now)) {
            co_await c.wake.wait(now + look_again);
            continue;
        }
        co_await run_session(c);
        const auto delay = reconnect_delay(c.failures, static_cast<std::uint32_t>(c.random()));
        if (delay > 0ms && !self.stopping_) {
            co_await c.wake.wait(net::clock::now() + delay, net::precision::fine);
        }
    }
}

net::task<> client::run_session(connection& c) {
    static std::atomic<std::uint64_t> serials{0};
    client& self = c.owner;
    const net::time_point began = net::clock::now();
    c.serial = ++serials;
    c.machine.emplace(self.settings_.session, std::uint64_t{c.random()} << 32 | c.random());
    c.machine->start(began);
    c.pump();
    bool was_ready = false;
    c.line.emplace(self.on_);
    c.served = false;
    c.dialing = true;
    auto refused = co_await net::dial(*c.line, self.settings_.at, began + self.settings_.session.connect);
    c.dialing = false;
    if (refused) {
        c.machine->lost(fault::connect_failed);
    } else {
        c.machine->connected(net::clock::now());
    }
    c.pump();
    while (!c.machine->closed()) {
        auto [ec, n] = co_await c.line->read_some(asio::buffer(c.inbox));
        if (ec) {
            c.machine->lost(fault::closed);
        } else {
            c.machine->received(std::string_view(c.inbox).substr(0, n), net::clock::now());
        }
        if (!was_ready && c.machine->ready()) {
            was_ready = true;
            self.health_.connected(net::clock::now());
        }
        c.pump();
    }
    // The session owns the bytes of a write in progress.
    while (!c.outgoing.empty()) {
        co_await c.write_ended.wait();
    }
    const net::time_point now = net::clock::now();
    const fault why = c.machine->failure();
    const bool retired = c.machine->retired();
    c.machine.reset();
    if (why == fault::shut_down) {
        co_return;
    }
    if (!retired) {
        self.health_.note(why, now, refused.detail);
    }
    // Redis may close a connection that it served: idle too long, or it restarts. That is no outage yet.
    const bool orderly = was_ready && why == fault::closed;
    if (is_outage(why) && !orderly) {
        self.health_.outage(why, now);
    }
    const bool was_healthy = was_ready && (c.served || now - began >= healthy_after);
    c.failures = !was_healthy ? c.failures + 1 : orderly ? 0 : 1;
}

net::task<> client::write_loop(connection& c) {
    for (;;) {
        if (!c.outgoing.empty()) {
            const asio::const_buffer rest(c.outgoing.data(), c.outgoing.size());
            auto [ec, n] = co_await c.line->write(rest);
            c.outgoing = {};
            c.write_ended.notify();
            if (ec) {
                c.machine->lost(fault::closed);
            } else {
                c.machine->written(net::clock::now());
            }
            c.pump();
            continue;
        }
        if (c.owner.stopping_) co_return;
        co_await c.write_wanted.wait();
        if (c.machine) c.pump();
    }
}

}  // namespace idem::cache::redis
