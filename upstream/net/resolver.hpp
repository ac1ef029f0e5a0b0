#pragma once
// Names to addresses, without ever blocking the thread that asks. An io_context service. getaddrinfo runs on two
// threads of its own, started by the first name that is not an address literal, so that one slow name does not hold up
// another; lookups of one name are shared, and results are kept for seconds only. localhost is this machine, whether or
// not a name service knows it.
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "upstream/net/address_memory.hpp"
#include "upstream/net/event.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::net {

class resolver : public asio::execution_context::service {
public:
    static inline asio::execution_context::id id;
    /// Blocks; called on one of the resolver's threads.
    using lookup = std::function<resolution(const std::string& host)>;

    explicit resolver(asio::execution_context& context);
    ~resolver() override;
    /// Ends at `limit`, and after nudge() if `given_up` is true then; the result is empty with an empty error in both
    /// cases. What is remembered for how long: address_memory.
    [[nodiscard]] task<resolution> resolve(std::string host, time_point limit, const bool& given_up);
    /// Of the addresses of `host`, this one could be connected to and one before it could not.
    void prefer(const std::string& host, const asio::ip::address& good);
    /// Makes all who wait look at their `given_up`.
    void nudge() noexcept;
    /// Replaces getaddrinfo, and how long its results are kept. Tests and embedders; before the first resolve.
    void use(lookup how, address_lifetimes keep = {}) {
        lookup_ = std::move(how);
        keep_ = keep;
    }

private:
    struct name;
    void shutdown() override;
    void start(const std::shared_ptr<name>& of);
    static void finish(name& of, resolution result);

    executor on_;
    lookup lookup_;
    address_lifetimes keep_;
    std::optional<asio::thread_pool> threads_;
    std::unordered_map<std::string, std::shared_ptr<name>> names_;
};

[[nodiscard]] resolver& resolver_of(const executor& on);

}  // namespace idem::upstream::net
