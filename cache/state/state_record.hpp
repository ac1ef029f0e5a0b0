#pragma once
// What all gateways on one store agree on beside entries and leases: the epochs of each upstream, and the bans. One
// record, `state`, changed by compare-and-set alone. Pure values; any thread.
//
// Lineage and sequence. The record has a random lineage and a sequence that grows by one with each change; each change
// has a random id, of which the latest are kept. A gateway remembers the last change that it saw. A record in which
// that change is missing was lost or restored from an older copy, and a purge that was acknowledged may be missing,
// too: then a new lineage is begun, in which every upstream has a new epoch, so that nothing which was stored before
// can be found. The lineages that were given up are remembered, so that of two gateways that notice the loss one
// follows the other.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry/entry.hpp"
#include "cache/state/epochs.hpp"

namespace idem::cache {

/// What a ban is on. All but `all` name a value.
enum class ban_kind : std::uint8_t { key, tag, model, route, upstream, scope, before, all };
[[nodiscard]] std::string_view to_string(ban_kind k) noexcept;
[[nodiscard]] std::optional<ban_kind> ban_kind_from(std::string_view word) noexcept;

/// Entries that it fits and whose fill began before the change `at` are invalid for ever.
struct ban {
    ban_kind kind = ban_kind::all;
    std::string value;     // of key: 64 hexadecimal digits; of before: Unix milliseconds; of all: empty
    std::uint64_t at = 0;  // sequence of the change that made it
    unix_ms when = 0;
    bool erase = false;  // what it fits is to be removed from every tier, not only never to be served
    bool operator==(const ban&) const = default;
};

struct known_epoch {
    epoch_record what;
    unix_ms opened = 0;
    std::string why;
    bool operator==(const known_epoch&) const = default;
};

struct upstream_epochs {
    std::string name;
    id128 current;
    bool by_hand = false;             // an operator went back to it: no other is opened but by an operator
    std::vector<known_epoch> epochs;  // in the order in which they were opened; `current` is one of them
    [[nodiscard]] const known_epoch* find(const id128& id) const noexcept;
    bool operator==(const upstream_epochs&) const = default;
};

/// The last change that a gateway saw.
struct state_mark {
    std::uint64_t lineage = 0, sequence = 0, change = 0;
    bool operator==(const state_mark&) const = default;
};

struct state_record {
    std::uint64_t lineage = 0, sequence = 0;
    std::vector<std::uint64_t> ancestors;  // lineages that were given up, the latest last
    std::vector<std::uint64_t> recent;     // ids of the latest changes; the last is that of `sequence`
    std::optional<digest> secret;          // proof of cache.key_secret; absent: there is none
    std::uint64_t horizon = 0;             // bans up to this change may have been dropped: see drop_settled()
    std::vector<upstream_epochs> upstreams;
    std::vector<ban> bans;  // at most one of a kind and value

    [[nodiscard]] state_mark mark() const noexcept;
    [[nodiscard]] const upstream_epochs* find(std::string_view upstream) const noexcept;
    bool operator==(const state_record&) const = default;
};

inline constexpr std::size_t most_recent = 1024, most_ancestors = 64, most_epochs = 32;

/// What proves that two gateways have the same cache.key_secret and tells nothing of it; nothing without one.
[[nodiscard]] std::optional<digest> proof_of_secret(std::string_view secret);

/// A first record, with no upstream and no ban.
[[nodiscard]] state_record begin_state(std::uint64_t lineage, std::uint64_t change, std::optional<digest> secret);
/// How a record that was read stands to the last change that was seen.
enum class continuity : std::uint8_t {
    follows,  // it is there, or a lineage that followed it is: what is read holds
    lost,     // it is not: another lineage has to be begun
};
[[nodiscard]] continuity compare(const state_record& read, const state_mark& seen) noexcept;
/// The record after a loss: what is there (absent: nothing) and what was known end as ancestors, every upstream of
/// `known` has one new epoch of the environment that it had. `make_id` gives the new epochs' ids.
[[nodiscard]] state_record begin_again(const state_record& known, const state_record* there, std::uint64_t lineage,
                                       std::uint64_t change, unix_ms now, const std::function<id128()>& make_id);

// Changes. Each is followed by commit().
void commit(state_record& r, std::uint64_t change);
/// The upstream's first epoch; nothing happens where it has one.
void add_upstream(state_record& r, std::string_view upstream, const epoch_record& first, unix_ms now, std::string why);
void open_epoch(state_record& r, std::string_view upstream, const epoch_record& next, unix_ms now, std::string why);
/// Back to one that is known. False: it is not.
[[nodiscard]] bool activate_epoch(state_record& r, const id128& id);
/// The ban counts from the change that commit() makes next. `all` takes the place of every other ban.
void add_ban(state_record& r, ban_kind kind, std::string value, bool erase, unix_ms now);
/// Bans on single keys from before `settled` are dropped and returned: whoever asks removes the entries once more. What
/// was checked before the horizon cannot be known to be good any more.
[[nodiscard]] std::vector<ban> drop_settled(state_record& r, unix_ms settled);

/// "idem-state 1 …" and a line a fact. Nothing: another format, or damaged.
[[nodiscard]] std::string encode(const state_record& r);
[[nodiscard]] std::optional<state_record> decode_state(std::string_view text);

}  // namespace idem::cache
