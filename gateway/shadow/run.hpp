#pragma once
// One run of an answered request on one replica, under the treatment that its fill had. Control thread.
#include <optional>
#include <string>

#include "gateway/pipeline/fill.hpp"
#include "gateway/pipeline/services.hpp"
#include "upstream/determinism/observation.hpp"

namespace idem::gateway::shadow {

namespace net = upstream::net;

struct ran {
    enum class end : std::uint8_t {
        answered,  // the rest is set
        failed,    // no whole and good answer
        put_off,   // others wanted the replica, or a limit was reached: nothing was asked
    } what = end::failed;
    upstream::determinism::observation seen;
    std::string output;  // normalised
};

/// Waits for the replica until `until`, behind every call that somebody waits for. `sampled`: nothing makes the answer
/// repeatable. What is referred to outlives the call.
[[nodiscard]] net::task<ran> run_once(pipeline::services& at, const pipeline::fill_order& order, std::size_t replica,
                                      bool sampled, net::time_point until);

}  // namespace idem::gateway::shadow
