#include "gateway/config/config.hpp"

#include <boost/asio/ip/address.hpp>

namespace idem::gateway::config {

bool address::loopback() const noexcept {
    boost::system::error_code ec;
    const auto literal = boost::asio::ip::make_address(host, ec);
    if (ec) return false;
    if (literal.is_v6() && literal.to_v6().is_v4_mapped()) {
        return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, literal.to_v6()).is_loopback();
    }
    return literal.is_loopback();
}

}  // namespace idem::gateway::config
