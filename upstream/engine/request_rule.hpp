#pragma once
// What an engine is asked so that it answers the same again, as plain data: parameters that are injected, neutralised
// and forbidden, in the engine's own spelling. One list for each API (dialect) that an engine has a deterministic form
// of. Constant; any thread.
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace idem::upstream::engine {

struct request_rule {
    enum class kind : std::uint8_t {
        set,         // written where absent; another value is a conflict
        neutralise,  // the same for what is to be off; `value` is how this engine spells that
        supply,      // written where absent; the client's own stays if it is an integer from `least` to `most` and
                     // none of `same`, which means "none" to the engine
        forbid,      // must be absent, or one of `same`
        single,      // must be one input: a text, or one list of token ids
        turns,       // must be a list of objects, one at least
        apart,       // must be a number, and not in [same_below, value): the engine would make it `value`
    };
    /// Where this rule holds.
    enum class under : std::uint8_t { strict, seeded, both };

    std::string_view at;  // JSON pointer of one or two object keys, without escapes
    kind is = kind::set;
    std::string_view value{};                // JSON text; empty for forbid and single
    std::array<std::string_view, 4> same{};  // JSON texts that the engine reads as `value`; of forbid, as off
    double same_below = 0;                   // numbers from 0 up to, not including, this one mean `value` too
    std::int64_t least = 0, most = std::numeric_limits<std::int64_t>::max();  // of supply: what the engine reads whole
    under when = under::strict;
};

struct request_form {
    std::string_view dialects;  // names as dialect::name(), separated by `|`
    std::span<const request_rule> rules{};
    /// Whether these rules are all that strict needs.
    bool strict = false;
    /// Where a seed goes; empty: this API has none.
    std::string_view seed{};
    /// A text member that a fresh random value makes the engine compute without its prefix cache; empty: none, or the
    /// rules say it otherwise. Sent upstream and nowhere else: it is in no digest.
    std::string_view salt{};
    /// The server finds members whatever their case, and with or without underscores.
    bool loose_names = false;
    /// Members, written as `at` is, that rules do not name and that the answer depends on through the request alone.
    /// Any other one may do anything (load an adapter, run somebody's code): what comes of it is not guaranteed.
    std::span<const std::string_view> known{};
};

/// Whether some answer of that dialect is sampled. Where nothing is (embeddings, reranking, tokenising, counting,
/// moderation) no parameter makes an answer more, or less, repeatable.
[[nodiscard]] bool samples(std::string_view dialect) noexcept;

}  // namespace idem::upstream::engine
