#pragma once
// What a request asks, worked out from its bytes alone: dialect, facts, canonical form, request digest, or the reason
// why it cannot be cached. No I/O, no clock; shared by the data path and `idem key`.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/request/canonical.hpp"
#include "cache/request/encoding.hpp"
#include "cache/request/key.hpp"
#include "gateway/config/config.hpp"
#include "gateway/pipeline/plan.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

struct identity {
    const upstream::dialect::dialect* api = nullptr;  // null: no dialect knows the call
    upstream::dialect::call call;                     // read as far as the body could be
    reason refuse = reason::none;                     // why the call is not cacheable
    std::string_view canonical;                       // with refuse == none; valid until the identifier's next call
    // What the policy makes of the decoded body, where that is something else; as long as `canonical`.
    std::optional<std::string_view> changed;
    const route_plan* route = nullptr;       // null: none matches, or no plan was given
    bool policy_unknown = false;             // the policy that was asked for cannot be had on this route
    std::vector<cache::conflict> conflicts;  // with what the policy enforces
    bool refused = false;                    // some of them cannot go upstream
    bool weakened = false;                   // they go upstream as they are
    /// The target as it goes upstream, where the route gives the model another name and the path has it; empty: as
    /// sent.
    std::string target;
};

/// One of the things that a call asks for.
struct item_identity {
    digest request;
    std::uint64_t canonical_size = 0;
    std::uint32_t weight = 1;  // batching::weight
};

/// One a thread: reuses the canonicalizer's memory.
class identifier {
public:
    /// `sample` is Idem-Sample, `policy` Idem-Policy; `decoded_cap` bounds a decompressed body. The route depends on
    /// the model that the body names, and on a path that engines share the dialect depends on the route's engine: hence
    /// the plan.
    [[nodiscard]] identity identify(const upstream::http::request_head& head, std::string_view body,
                                    std::uint32_t sample, std::uint64_t decoded_cap, const plan* routes = nullptr,
                                    std::string_view policy = {});
    /// Request digest of what was identified last, under the treatment of its route, if it has one.
    [[nodiscard]] digest digest_of(const identity& id);
    /// The same under another treatment.
    [[nodiscard]] digest digest_of(const identity& id, const digest& treatment);
    /// Of what was identified last: what it asks for, in order, each as if it had been asked alone. Empty where it does
    /// not come apart.
    [[nodiscard]] std::vector<item_identity> items_of(const identity& id);
    /// What goes upstream, decoded, in place of a body that was identified as a call of `api`; nullopt: that body.
    /// With `plain` a body that nothing changes comes decoded, too.
    [[nodiscard]] std::optional<std::string> forwarded(const upstream::http::request_head& head, std::string_view body,
                                                       std::uint64_t decoded_cap, const upstream::dialect::dialect& api,
                                                       const body_changes& changes, bool plain = false);

private:
    [[nodiscard]] cache::plain_body decode(const upstream::http::request_head& head, std::string_view body,
                                           std::uint64_t decoded_cap);
    /// Returns the decoded body, if it can be read.
    std::string_view read(identity& id, const upstream::http::request_head& head, std::string_view body,
                          std::uint64_t decoded_cap, const plan* routes);
    void take_canonical(identity& id, std::string_view text);
    void change(identity& id, std::string_view body);
    cache::canonicalizer canonicalizer_;
    body_tools tools_;
    std::string decoded_, query_, reduced_, changed_, path_;
    cache::request_parts parts_;
};

/// Whether the policy's `eligible` rule lets a call with this sampling be cached.
[[nodiscard]] bool eligible(const config::policy& policy, const upstream::dialect::call& call) noexcept;

}  // namespace idem::gateway::pipeline
