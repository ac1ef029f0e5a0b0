#include "upstream/client/pool.hpp"

#include <algorithm>

#include "upstream/client/connection.hpp"

namespace idem::upstream::client {
namespace {

/// Buckets of replicas that a reload removed are dropped when so many have gathered.
constexpr std::size_t many_buckets = 64;

bool same_server(const target& a, const target& b) {
    return a.port == b.port && a.tls == b.tls && a.host == b.host && a.through == b.through &&
           (!a.tls || a.tls_options == b.tls_options);
}

void read_limit_reached(void* self) noexcept {
    auto& c = *static_cast<connection*>(self);
    if (c.idle) {
        c.owner.expire(c);  // destroys c
    } else {
        c.wire.cancel();
    }
}

void write_limit_reached(void* self) noexcept {
    static_cast<connection*>(self)->wire.cancel();
}

}  // namespace

connection::connection(pool::impl& pool, bucket& in)
    : owner(pool),
      home(in),
      wire(pool.on),
      reading(pool.deadlines, read_limit_reached, this),
      writing(pool.deadlines, write_limit_reached, this),
      generation(pool.generation) {}

net::asio::mutable_buffer room_in(net::read_buffer& in) {
    if (in.size() == large_read) return {};
    return in.prepare(in.filled() && in.capacity() < large_read ? large_read - in.size() : 1);
}

std::unique_ptr<connection> pool::impl::take(bucket& from) {
    while (!from.idle.empty()) {
        std::unique_ptr<connection> c = std::move(from.idle.back());
        from.idle.pop_back();
        --idle_count;
        c->idle = false;
        c->reading.disarm();
        if (!c->wire.quiet()) continue;
        ++from.in_use;
        return c;
    }
    return nullptr;
}

std::unique_ptr<connection> pool::impl::make(bucket& in) {
    auto c = std::make_unique<connection>(*this, in);
    ++in.in_use;
    return c;
}

void pool::impl::give_back(std::unique_ptr<connection> c, bool reusable, net::duration idle_for) noexcept {
    bucket& home = c->home;
    --home.in_use;
    const net::duration keep = std::min(idle_for, limits.idle);
    if (!reusable || c->generation != generation || keep <= net::duration::zero() || limits.per_target == 0) return;
    if (net::clock::now() - c->made >= limits.age) return;
    if (home.idle.size() >= limits.per_target) {
        home.idle.erase(home.idle.begin());  // the one that was idle longest
        --idle_count;
    }
    c->in.clear();
    c->idle = true;
    c->reading.arm(keep);
    home.idle.push_back(std::move(c));
    ++idle_count;
}

bucket& pool::impl::find(const target& to) {
    for (const std::unique_ptr<bucket>& b : buckets) {
        if (same_server(b->to, to)) return *b;
    }
    if (buckets.size() >= many_buckets) {
        std::erase_if(buckets, [](const auto& b) { return b->in_use == 0 && b->idle.empty(); });
    }
    return *buckets.emplace_back(std::make_unique<bucket>(to));
}

void pool::impl::expire(connection& c) noexcept {
    std::vector<std::unique_ptr<connection>>& idle = c.home.idle;
    const auto at = std::find_if(idle.begin(), idle.end(), [&](const auto& known) { return known.get() == &c; });
    if (at == idle.end()) return;
    idle.erase(at);
    --idle_count;
}

void pool::impl::drain() noexcept {
    ++generation;
    for (const std::unique_ptr<bucket>& b : buckets) b->idle.clear();
    idle_count = 0;
}

pool::pool(net::executor on, pool_limits limits) : impl_(std::make_unique<impl>(on, limits)) {}

pool::~pool() = default;

std::size_t pool::idle() const noexcept {
    return impl_->idle_count;
}

void pool::drain() noexcept {
    impl_->drain();
}

}  // namespace idem::upstream::client
