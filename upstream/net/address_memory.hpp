#pragma once
// What is remembered of one name's addresses, and for how long. Sans-I/O; one thread.
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace idem::upstream::net {

struct resolution {
    std::vector<boost::asio::ip::address> addresses;  // in the order to try
    std::string error;                                // why there are none
};

struct address_lifetimes {
    std::chrono::steady_clock::duration good = std::chrono::seconds(5);   // addresses are not asked for again
    std::chrono::steady_clock::duration bad = std::chrono::seconds(1);    // a failure is not tried again
    std::chrono::steady_clock::duration stale = std::chrono::minutes(5);  // addresses outlive failing lookups
};

class address_memory {
public:
    using time_point = std::chrono::steady_clock::time_point;
    explicit address_memory(address_lifetimes keep) noexcept : keep_(keep) {}

    /// A look-up is wanted before answer() counts.
    [[nodiscard]] bool due(time_point now) const noexcept { return now >= fresh_until_; }
    /// What a look-up brought. A failing one leaves the last good addresses in place while they are young enough.
    void learn(resolution result, time_point now);
    [[nodiscard]] const resolution& answer() const noexcept { return last_; }
    /// The one that could be connected to, when another could not: first in this answer, and in later ones that have
    /// it.
    void prefer(const boost::asio::ip::address& good);

private:
    void sort();

    address_lifetimes keep_;
    resolution last_;
    boost::asio::ip::address preferred_;  // unspecified: none
    time_point fresh_until_{};
    time_point good_at_{};
};

}  // namespace idem::upstream::net
