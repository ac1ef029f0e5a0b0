#pragma once
// What gateways on one store tell each other about replicas, as JSON in the store's records: what the one that watches
// a replica has found, what operators ordered, and the golden reference of an upstream. A record that does not parse is
// absent. Pure; any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/determinism/reference.hpp"
#include "upstream/determinism/replica_state.hpp"
#include "upstream/determinism/replica_watch.hpp"

namespace idem::gateway::replicas {

namespace determinism = upstream::determinism;

/// Names of records and leases.
[[nodiscard]] std::string replica_name(std::string_view upstream, std::string_view replica);
[[nodiscard]] std::string order_name(std::string_view upstream, std::string_view replica);
[[nodiscard]] std::string reference_name(std::string_view upstream);
[[nodiscard]] std::string attest_lease(std::string_view upstream, std::string_view replica);

/// Written by the holder of the replica's attest lease.
struct finding {
    determinism::condition now;
    std::vector<determinism::golden_output> outputs;  // of the last steady attestation; empty: none in this environment
    std::uint64_t orders_done = 0;                    // the number of the last order that was carried out
    std::int64_t checked = 0;                         // Unix milliseconds when the replica was last found to be so
};
[[nodiscard]] std::string encode(const finding& f);
[[nodiscard]] std::optional<finding> decode_finding(std::string_view text);

/// What somebody wants of whoever watches the replica.
struct wish {
    enum class what : std::uint8_t { quarantine, drain, readmit, attest, record, suspect, diverged } is = what::attest;
    std::uint64_t number = 0;  // grows
};
[[nodiscard]] std::string_view to_string(wish::what w) noexcept;
[[nodiscard]] std::optional<wish::what> wish_from(std::string_view word) noexcept;
[[nodiscard]] std::string encode(const wish& w);
[[nodiscard]] std::optional<wish> decode_wish(std::string_view text);

[[nodiscard]] std::string encode(const determinism::reference& r);
[[nodiscard]] std::optional<determinism::reference> decode_reference(std::string_view text);

}  // namespace idem::gateway::replicas
