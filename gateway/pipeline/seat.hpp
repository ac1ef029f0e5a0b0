#pragma once
// A call's place in a flight: that of whoever asks the same already, or one of its own.
#include "cache/flight/table.hpp"
#include "gateway/pipeline/prepare.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

/// From here on the call counts as begun: bans that are made later hold against what it is answered with. `alone`: it
/// neither follows another nor is followed.
[[nodiscard]] cache::flight_table::joined take_seat(services& at, prepared& p, bool alone);

}  // namespace idem::gateway::pipeline
