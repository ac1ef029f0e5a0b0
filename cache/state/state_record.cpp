#include "cache/state/state_record.hpp"

#include <algorithm>
#include <array>

namespace idem::cache {

namespace {

constexpr std::array<std::string_view, 8> kinds{"key", "tag", "model", "route", "upstream", "scope", "before", "all"};

template <class T>
void keep_latest(std::vector<T>& all, std::size_t most) {
    if (all.size() > most) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
}

upstream_epochs* find(state_record& r, std::string_view upstream) {
    const auto at = std::ranges::find(r.upstreams, upstream, &upstream_epochs::name);
    return at == r.upstreams.end() ? nullptr : &*at;
}

// The oldest that is not the current one makes room.
void make_current(upstream_epochs& of, known_epoch next) {
    of.current = next.what.id;
    of.epochs.push_back(std::move(next));
    if (of.epochs.size() > most_epochs) of.epochs.erase(of.epochs.begin());
}

}  // namespace

std::string_view to_string(ban_kind k) noexcept {
    return kinds[static_cast<std::size_t>(k)];
}

std::optional<ban_kind> ban_kind_from(std::string_view word) noexcept {
    const auto at = std::ranges::find(kinds, word);
    if (at == kinds.end()) return std::nullopt;
    return static_cast<ban_kind>(at - kinds.begin());
}

const known_epoch* upstream_epochs::find(const id128& id) const noexcept {
    const auto at = std::ranges::find(epochs, id, [](const known_epoch& e) { return e.what.id; });
    return at == epochs.end() ? nullptr : &*at;
}

state_mark state_record::mark() const noexcept {
    return {lineage, sequence, recent.empty() ? 0 : recent.back()};
}

const upstream_epochs* state_record::find(std::string_view upstream) const noexcept {
    const auto at = std::ranges::find(upstreams, upstream, &upstream_epochs::name);
    return at == upstreams.end() ? nullptr : &*at;
}

std::optional<digest> proof_of_secret(std::string_view secret) {
    if (secret.empty()) return std::nullopt;
    return hmac_sha256(secret, "idem key secret 1");
}

state_record begin_state(std::uint64_t lineage, std::uint64_t change, std::optional<digest> secret) {
    state_record r;
    r.lineage = lineage;
    r.sequence = 1;
    r.recent = {change};
    r.secret = secret;
    return r;
}

continuity compare(const state_record& read, const state_mark& seen) noexcept {
    if (read.lineage != seen.lineage) {
        const bool followed = std::ranges::find(read.ancestors, seen.lineage) != read.ancestors.end();
        return followed ? continuity::follows : continuity::lost;
    }
    if (read.sequence < seen.sequence) return continuity::lost;
    const std::uint64_t since = read.sequence - seen.sequence;
    // Who missed more changes than are kept cannot know; what it saw was acknowledged so long ago that it is taken for
    // kept.
    if (since >= read.recent.size()) return continuity::follows;
    const bool there = read.recent[read.recent.size() - 1 - since] == seen.change;
    return there ? continuity::follows : continuity::lost;
}

state_record begin_again(const state_record& known, const state_record* there, std::uint64_t lineage,
                         std::uint64_t change, unix_ms now, const std::function<id128()>& make_id) {
    state_record r = begin_state(lineage, change, known.secret);
    const auto descend = [&](const state_record& from) {
        for (const std::uint64_t each : from.ancestors) std::erase(r.ancestors, each);
        std::erase(r.ancestors, from.lineage);
        r.ancestors.insert(r.ancestors.end(), from.ancestors.begin(), from.ancestors.end());
        r.ancestors.push_back(from.lineage);
    };
    if (there) descend(*there);
    descend(known);
    keep_latest(r.ancestors, most_ancestors);
    for (const upstream_epochs& u : known.upstreams) {
        const known_epoch* was = u.find(u.current);
        if (was) add_upstream(r, u.name, {make_id(), was->what.environment}, now, "the state record was lost");
    }
    return r;
}

void commit(state_record& r, std::uint64_t change) {
    ++r.sequence;
    r.recent.push_back(change);
    keep_latest(r.recent, most_recent);
}

void add_upstream(state_record& r, std::string_view upstream, const epoch_record& first, unix_ms now, std::string why) {
    if (r.find(upstream)) return;
    upstream_epochs made;
    made.name = upstream;
    make_current(made, {first, now, std::move(why)});
    r.upstreams.push_back(std::move(made));
}

void open_epoch(state_record& r, std::string_view upstream, const epoch_record& next, unix_ms now, std::string why) {
    upstream_epochs* of = find(r, upstream);
    if (!of) return add_upstream(r, upstream, next, now, std::move(why));
    of->by_hand = false;
    make_current(*of, {next, now, std::move(why)});
}

bool activate_epoch(state_record& r, const id128& id) {
    for (upstream_epochs& u : r.upstreams) {
        if (!u.find(id)) continue;
        u.current = id;
        u.by_hand = true;
        return true;
    }
    return false;
}

void add_ban(state_record& r, ban_kind kind, std::string value, bool erase, unix_ms now) {
    // An erasure goes on being one: a gateway that was away has to remove its copies, too.
    const auto same = [&](const ban& b) { return b.kind == kind && b.value == value; };
    erase = erase || std::ranges::any_of(r.bans, [&](const ban& b) { return b.erase && same(b); });
    if (kind == ban_kind::all)
        r.bans.clear();
    else
        std::erase_if(r.bans, same);
    r.bans.push_back({kind, std::move(value), r.sequence + 1, now, erase});
}

std::vector<ban> drop_settled(state_record& r, unix_ms settled) {
    std::vector<ban> out;
    std::erase_if(r.bans, [&](const ban& b) {
        if (b.kind != ban_kind::key || b.when >= settled) return false;
        r.horizon = std::max(r.horizon, b.at);
        out.push_back(b);
        return true;
    });
    return out;
}

}  // namespace idem::cache
