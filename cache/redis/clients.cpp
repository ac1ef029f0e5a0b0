#include "cache/redis/clients.hpp"

#include <boost/asio/co_spawn.hpp>
#include <future>
#include <utility>

namespace idem::cache::redis {

namespace net = upstream::net;
using namespace std::chrono_literals;

namespace {

// All sockets are closed by then; only a name look-up in the operating system can take longer.
constexpr std::chrono::seconds patience = 5s;

[[nodiscard]] std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

// Deadlines and events may only be touched on their own thread, so the client dies there too.
net::task<bool> retire(std::unique_ptr<client> last, net::time_point limit) {
    const bool ended = co_await last->stop(limit);
    if (!ended) {
        static_cast<void>(last.release());  // coroutines still hold it; better kept for ever than freed under them
    }
    co_return ended;
}

}  // namespace

clients::clients(client_settings settings, monitor& health)
    : settings_(std::move(settings)), health_(health), id_(next_id()) {}

clients::~clients() {
    close();
}

client* clients::of(const net::executor& on) {
    struct memory {
        std::uint64_t id = 0;
        const void* context = nullptr;
        client* found = nullptr;
    };
    static thread_local memory last;
    if (closed_.load(std::memory_order_acquire)) {
        return nullptr;
    }
    const void* const context = &on.context();
    if (last.id == id_ && last.context == context) {
        return last.found;
    }
    const std::scoped_lock lock(mutex_);
    if (closed_.load(std::memory_order_relaxed)) {
        return nullptr;
    }
    for (const member& m : members_) {
        if (&m.on.context() == context) {
            last = {id_, context, m.made.get()};
            return m.made.get();
        }
    }
    members_.push_back({on, std::make_unique<client>(on, settings_, health_)});
    last = {id_, context, members_.back().made.get()};
    return last.found;
}

void clients::close() noexcept {
    std::vector<member> ending;
    {
        const std::scoped_lock lock(mutex_);
        closed_.store(true, std::memory_order_release);
        ending = std::exchange(members_, {});
    }
    const net::time_point limit = net::clock::now() + patience;
    std::vector<std::future<bool>> ends;
    for (member& m : ending) {
        auto ended = std::make_shared<std::promise<bool>>();
        ends.push_back(ended->get_future());
        auto done = [ended](std::exception_ptr escaped, bool in_time) { ended->set_value(!escaped && in_time); };
        boost::asio::co_spawn(m.on, retire(std::move(m.made), limit), std::move(done));
    }
    for (std::future<bool>& e : ends) {
        if (e.wait_until(limit + 1s) != std::future_status::ready || !e.get()) {
            health_.say("a connection did not end in time");
        }
    }
}

}  // namespace idem::cache::redis
