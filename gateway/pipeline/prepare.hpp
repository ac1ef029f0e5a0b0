#pragma once
// Everything that is decided about a request before anything is awaited: may this caller call, which route, is the call
// cacheable, what is its key. No I/O; time is an argument. One object a thread, because it remembers: a request whose
// bytes were seen before costs one comparison.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/policy/controls.hpp"
#include "cache/policy/scope.hpp"
#include "cache/request/memo.hpp"
#include "cache/state/epochs.hpp"
#include "gateway/http/transaction.hpp"
#include "gateway/pipeline/fill.hpp"
#include "gateway/pipeline/identify.hpp"
#include "gateway/pipeline/items.hpp"
#include "gateway/pipeline/present.hpp"
#include "gateway/pipeline/reply.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

struct prepared {
    enum class kind : std::uint8_t {
        call,    // cacheable: everything below is set
        proxy,   // forward untouched, for the reason `why`
        refuse,  // answer `status` with the reason `why`
    } what = kind::proxy;
    reason why = reason::none;
    unsigned status = 0;
    std::string detail;

    const route_plan* route = nullptr;
    const upstream::dialect::dialect* api = nullptr;
    upstream::dialect::call call;
    wish wants;
    cache::controls controls;
    digest request;
    digest pin;  // what its replica is chosen by
    cache::cache_key key;
    std::uint64_t canonical_size = 0;
    cache::epoch_record epoch;
    id128 ban;  // see asked::ban
    digest credential;
    std::string scope_tag;
    std::shared_ptr<const item_batch> items;  // many things, each kept by itself; `key` is then the flight's alone
    std::optional<digest> beside;             // see asked::beside
    std::optional<digest> idempotency;        // what the client's Idempotency-Key is known by
    bool body_differs = false;                // what goes upstream is forwarded(), not the body as it came
    bool held_to_rules = false;               // the policy enforces something here, also where the call is not cached
    bool weakened = false;                    // and a value of the client's stands against it: no guarantee
    std::string target;                       // as it goes upstream; empty: as sent
    bool checks_proof = false;                // hits only while the credential is proven: never remembered
    bool proves = false;                      // a success of this call is its credential's proof
    reason refresh = reason::none;            // no_cache_request, max_age_exceeded
    reason keep_out = reason::none;           // no_store_request, form_lossy, origin_unknown
    std::shared_ptr<const std::string> cors;  // with an Origin: what its page may read; see origins.hpp

    /// Whether this entry is what the caller may be given at `now`: max-age.
    [[nodiscard]] bool satisfied_by(const cache::entry& e, std::int64_t now_ms) const noexcept;
    /// The account of a stored answer that this request is given. Views into all of these.
    [[nodiscard]] account account_of_hit(const cache::entry& e, std::int64_t now_ms, std::string_view tier,
                                         std::string_view request_id, std::string_view via) const;
    /// Whether the caller could read a stored answer: a page cannot without what its origin needs.
    [[nodiscard]] bool readable() const noexcept;
    /// Whether its fill begins with what is stored. Of a call whose answer must not be stored that was asked before,
    /// but for items.
    [[nodiscard]] bool looks_up() const noexcept;
    /// Whether an item of the call that is in memory is not.
    [[nodiscard]] bool holds_too_old(cache::memory_store& memory, std::int64_t now_ms) const;
    /// Whether the call neither follows another one nor is followed.
    [[nodiscard]] bool lone() const noexcept;
    [[nodiscard]] asked as_asked() const;
    /// What bans would look at in the answer. Views into both.
    [[nodiscard]] cache::ban_subject subject(std::span<const std::string> tags) const noexcept;
    /// The stored answer has a form that cannot become the wanted one: from here on the call is about that form.
    void stand_beside(const cache::entry& first);
};

/// The first question to every request, cacheable or not.
struct doorkeeping {
    reason refuse = reason::none;
    std::string_view detail;
};

class preparer {
public:
    explicit preparer(const shared& common);
    [[nodiscard]] doorkeeping admit(const http::request_head& head, const http::peer& client) const;
    /// The credential that a request presents, as the proof table knows it.
    [[nodiscard]] digest credential_of(const http::request_head& head, const http::peer& client) const;
    /// Whose limits a request counts against.
    [[nodiscard]] digest caller_of(const http::request_head& head, const http::peer& client) const;
    /// Field lines for the page that sent this request, as its upstream told its origin last. Null where there is no
    /// page or no route, and where that is not known.
    [[nodiscard]] std::shared_ptr<const std::string> cors_of(const http::request_head& head,
                                                             const route_plan* route) const;
    /// For a call that some dialect knows. `body` is whole. The result is valid until the next call on this object.
    [[nodiscard]] const prepared& prepare(const http::request_head& head, std::string_view body,
                                          const http::peer& client);
    /// The result of the last prepare(), to keep. No other call on this object came between.
    [[nodiscard]] prepared take(const prepared& last);
    /// The call that was prepared last was a hit, so the same bytes are likely to come again. `body` as it was given;
    /// the head is still the same. Makes the result of prepare() invalid.
    void remember(std::string_view body);
    /// What goes upstream, decoded, instead of the body that was prepared; nullopt: that body itself. What is added at
    /// each sending is in it, so no two calls give the same.
    [[nodiscard]] std::optional<std::string> forwarded(const prepared& p, const http::request_head& head,
                                                       std::string_view body);

private:
    // The fields that say who calls and which dialect version: with request line and body they decide everything.
    static constexpr std::size_t fixed_parts = 14;
    struct head_parts;
    [[nodiscard]] bool collect(const http::request_head& head, const http::peer& client);
    /// False: the call is refused.
    [[nodiscard]] bool keep_policy(prepared& p, const identity& id) const;
    void work_out(prepared& p, const http::request_head& head, std::string_view body, const http::peer& client);
    [[nodiscard]] cache::caller caller_in(const http::request_head& head, const http::peer& client,
                                          std::string_view query, std::string_view tenant) const;
    [[nodiscard]] cache::scope scope_of(const http::request_head& head, const http::peer& client,
                                        std::string_view query, std::string_view tenant = {}) const;
    /// `whose` says all of the keys but the request.
    void read_items(prepared& p, const identity& id, cache::key_parts whose);
    void judge_proof(prepared& p, const cache::scope& s) const;

    const shared& common_;
    identifier identifier_;
    cache::epochs_view epochs_;
    std::uint64_t epochs_seen_ = 0;
    std::vector<std::string> route_fields_;  // header names that routes and scope look at
    std::vector<std::string_view> parts_;
    cache::memo<prepared> memo_;
    prepared scratch_;
    bool rememberable_ = false;  // scratch_ holds what was prepared last, parts_ what the memo would know it by
};

/// The target without its query.
[[nodiscard]] inline std::string_view path_of(std::string_view target) noexcept {
    return target.substr(0, target.find('?'));
}

}  // namespace idem::gateway::pipeline
