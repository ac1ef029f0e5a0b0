#pragma once
// What may be promised of one answer. `replica`: the replica that computed it repeated itself in every one of its
// admission runs under the named conditions; `class`: admitted siblings gave the same outputs, too. Never a promise
// that a flip is impossible: with 0 flips in n runs the one-sided 95 % upper bound of a flip's probability is 1 -
// 0.05^(1/n), about 3/n (Hanley and Lippman-Hand, 1983). Pure; any thread.
#include <cstdint>
#include <string>
#include <string_view>

namespace idem::upstream::determinism {

enum class level : std::uint8_t { none, replica, sibling_class };
[[nodiscard]] std::string_view to_string(level l) noexcept;  // none, replica, class

/// How concurrent calls on a replica are kept from changing each other's numbers.
enum class isolation : std::uint8_t { none, serial, batch_invariant };
[[nodiscard]] std::string_view to_string(isolation i) noexcept;

struct guarantee {
    level what = level::none;
    isolation how = isolation::none;
    std::uint32_t runs = 0;  // admission runs in a row that repeated the reference, since the replica was admitted
    bool operator==(const guarantee&) const = default;
};

/// What is known of a fill when it ends.
struct circumstances {
    bool strict = false;              // the policy enforces greedy decoding on admitted replicas
    bool weakened = false;            // a client's own value was let through
    bool admitted = false;            // at its start and at its end, in one environment, which is the epoch's
    bool diverging = false;           // the upstream's replicas do not agree with the reference
    bool isolated = true;             // the replica's slot was held to the end; no lease lapsed
    bool exclusive = false;           // the operator states that the replica serves only Idem
    isolation how = isolation::none;  // of the replica's slots
    std::uint32_t runs = 0;
    std::uint32_t siblings = 0;  // other admitted replicas that gave the reference's outputs
};
[[nodiscard]] guarantee guarantee_of(const circumstances& c) noexcept;

/// Upper bound, 95 % one-sided, of the probability that one run differs, after `runs` that did not. 1 without runs.
[[nodiscard]] double flip_bound(std::uint32_t runs) noexcept;

/// The header: `replica; mode=serial; runs=9; bound=0.2831`, or `none`.
void append(std::string& out, const guarantee& g);

}  // namespace idem::upstream::determinism
