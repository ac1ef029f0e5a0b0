#include "upstream/net/resolver.hpp"

#include <netdb.h>

#include <boost/asio/post.hpp>
#include <cstring>

#include "upstream/http/fields.hpp"

namespace idem::upstream::net {
namespace {

constexpr std::size_t most_names = 1024;  // names come from the configuration; a bound all the same
constexpr std::size_t most_addresses = 16;

resolution system_lookup(const std::string& host) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* list = nullptr;
    resolution out;
    const int rc = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
    if (rc != 0) {
        out.error = ::gai_strerror(rc);
        return out;
    }
    for (const addrinfo* a = list; a != nullptr && out.addresses.size() < most_addresses; a = a->ai_next) {
        if (a->ai_family == AF_INET) {
            sockaddr_in address{};
            std::memcpy(&address, a->ai_addr, sizeof address);
            out.addresses.emplace_back(asio::ip::address_v4(ntohl(address.sin_addr.s_addr)));
        } else if (a->ai_family == AF_INET6) {
            sockaddr_in6 address{};
            std::memcpy(&address, a->ai_addr, sizeof address);
            asio::ip::address_v6::bytes_type bytes;
            std::memcpy(bytes.data(), &address.sin6_addr, bytes.size());
            out.addresses.emplace_back(asio::ip::address_v6(bytes, address.sin6_scope_id));
        }
    }
    ::freeaddrinfo(list);
    if (out.addresses.empty()) out.error = "no address";
    return out;
}

// "localhost" and every name under it, with or without the root's dot.
bool is_localhost(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    constexpr std::string_view name = "localhost";
    if (host.size() < name.size() || !http::iequals(host.substr(host.size() - name.size()), name)) return false;
    return host.size() == name.size() || host[host.size() - name.size() - 1] == '.';
}

}  // namespace

struct resolver::name {
    name(std::string h, const executor& on, address_lifetimes keep) : host(std::move(h)), known(keep), changed(on) {}
    std::string host;
    address_memory known;
    bool pending = false;
    event changed;
};

resolver::resolver(asio::execution_context& context)
    : service(context), on_(static_cast<asio::io_context&>(context).get_executor()), lookup_(system_lookup) {
    static_cast<void>(deadlines_of(on_));  // what our events stand on: made first, so that it dies last
}

resolver::~resolver() = default;

void resolver::shutdown() {
    if (threads_) {
        threads_->stop();
        threads_->join();
    }
    // A coroutine that waits holds its name, and the name holds the coroutine: cut the circle.
    for (const auto& [host, of] : names_) of->changed.abandon();
    names_.clear();
}

void resolver::start(const std::shared_ptr<name>& of) {
    of->pending = true;
    if (!threads_) threads_.emplace(2);
    asio::post(*threads_, [of = of, how = lookup_, on = on_]() mutable {
        resolution found = how(of->host);
        // Containers without /etc/hosts do not know it; RFC 6761 section 6.3 says what it is.
        if (found.addresses.empty() && is_localhost(of->host))
            found = {{asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()}, {}};
        asio::post(on, [of = std::move(of), found = std::move(found)]() mutable { finish(*of, std::move(found)); });
    });
}

void resolver::finish(name& of, resolution result) {
    of.pending = false;
    of.known.learn(std::move(result), clock::now());
    of.changed.notify();
}

task<resolution> resolver::resolve(std::string host, time_point limit, const bool& given_up) {
    resolution out;
    error_code not_an_address;
    const asio::ip::address literal = asio::ip::make_address(host, not_an_address);
    if (!not_an_address) {
        out.addresses.push_back(literal);
        co_return out;
    }
    if (names_.size() >= most_names && !names_.contains(host)) {
        std::erase_if(names_, [](const auto& known) { return !known.second->pending; });
    }
    std::shared_ptr<name>& slot = names_[host];
    if (!slot) slot = std::make_shared<name>(host, on_, keep_);
    const std::shared_ptr<name> of = slot;
    if (!of->pending && of->known.due(clock::now())) start(of);
    while (of->pending) {
        const bool notified = co_await of->changed.wait(limit);
        if (given_up || (!notified && of->pending)) co_return out;
    }
    out = of->known.answer();
    co_return out;
}

void resolver::prefer(const std::string& host, const asio::ip::address& good) {
    const auto of = names_.find(host);
    if (of != names_.end()) of->second->known.prefer(good);
}

void resolver::nudge() noexcept {
    for (const auto& [host, of] : names_) of->changed.notify();
}

resolver& resolver_of(const executor& on) {
    return asio::use_service<resolver>(on.context());
}

}  // namespace idem::upstream::net
