#pragma once
// A fill and the tiers: looking an answer up in the second tier, making an entry of a complete answer, and storing it.
#include <string>

#include "cache/flight/flight.hpp"
#include "gateway/pipeline/fill.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

struct looked_up {
    cache::entry_ptr entry;     // live and ours; already in the memory tier
    std::string_view tier;      // that held it
    id128 replaces{};           // a dead entry that a put may replace
    reason why = reason::none;  // what went wrong, for the account of this request
    bool may_store = true;      // false: something unreadable holds the key, or the store is out for this request
    bool refuse_all = false;    // the store failed and the policy requires it
};
/// What the tiers hold. The memory tier is asked again: between its leader's first look and its flight's place in the
/// table another flight may have ended. `into` is the asker's own flight, whose key may be deleted meanwhile.
[[nodiscard]] net::task<looked_up> look_up(services& at, cache::flight& into, const asked& order);

/// Who computed an answer, and what that is worth.
struct origin {
    std::string replica;
    digest environment;
    upstream::determinism::guarantee promise;
};
[[nodiscard]] cache::entry_ptr make_entry(const fill_order& order, const upstream::http::response_head& head,
                                          upstream::dialect::form form, origin from, std::string body,
                                          const upstream::dialect::verdict& content, std::uint32_t upstream_ms,
                                          std::optional<upstream::dialect::byte_range> usage_event);

/// First writer wins. Sets end.stored, and end.why and end.answer where another writer won.
[[nodiscard]] net::task<void> store_answer(services& at, cache::flight& from, const asked& order,
                                           const looked_up& found, cache::conclusion& end);

}  // namespace idem::gateway::pipeline
