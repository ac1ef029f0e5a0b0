#pragma once
// Listening sockets: one for each thread that accepts, all on one port that no other process listens on.
//
// The kernel spreads connections over sockets that share a port by SO_REUSEPORT, but the option also lets in any other
// process of the same user, which would then take its share of the callers without a word. So the first socket takes
// the port without the option and gets it once it listens; only then do the others of this process join.
//
// Between two processes that start at once: 1. both bind, which SO_REUSEADDR allows while neither listens; 2. one
// listens; 3. the other's listen() fails, for Linux checks the port again when a socket becomes a listener, and this
// one has not said that it would share. If both come to the check at the same moment both may fail (measured: one race
// in 100,000), so whoever fails looks twice more whether there is a listener indeed.
#include <cstdint>

#include "upstream/net/net.hpp"

namespace idem::upstream::net {

enum class seat : std::uint8_t {
    first,    // takes the port; address_in_use if anybody listens there, other threads of this process included
    further,  // joins a socket that was opened as first
};

/// Opens, binds and listens. SO_REUSEADDR is set: what an earlier process left in TIME_WAIT is no obstacle. After an
/// error the acceptor is closed.
[[nodiscard]] error_code listen(tcp_acceptor& acceptor, const tcp::endpoint& at, seat how);

}  // namespace idem::upstream::net
