#pragma once
// Who is to blame where a request gave another output than the one that is stored: the run that differed is repeated,
// and the request is put to another replica as well. Pure; any thread.
#include <cstdint>
#include <optional>
#include <string_view>

#include "upstream/base/digest.hpp"

namespace idem::upstream::determinism {

enum class blame : std::uint8_t {
    undecided,    // no second run gave a whole answer
    flip,         // a replica does not repeat itself
    replica,      // a replica repeats itself, and not what is expected of it
    environment,  // other replicas say the same now: what changed, changed for all of them
};
inline constexpr std::size_t blames = 4;
[[nodiscard]] std::string_view to_string(blame b) noexcept;
[[nodiscard]] std::optional<blame> blame_from(std::string_view word) noexcept;

/// The outputs of one request.
struct shadow_trials {
    digest stored;                // of the answer that callers get, by the replica that computed it
    digest again;                 // of the run that differed
    bool same_replica = true;     // it was the replica that computed the stored answer
    std::optional<digest> twice;  // of that run repeated where it was made
    std::optional<digest> other;  // of the other replica: a sibling where `same_replica`, else the stored answer's own
};

struct shadow_finding {
    blame what = blame::undecided;
    bool at_origin = false;  // whom it is about: the replica of the stored answer, else that of the run that differed
};
/// Two of three decide.
[[nodiscard]] shadow_finding find_blame(const shadow_trials& t) noexcept;

}  // namespace idem::upstream::determinism
