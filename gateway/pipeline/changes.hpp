#pragma once
// What Idem changes in the bodies of requests. A policy's normalisations come first of all: key and forwarded body are
// made of the changed text alike. What speaks to gateways (LiteLLM's `cache`) never goes upstream, whatever the policy.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/request/rewrite.hpp"
#include "gateway/config/config.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::gateway::pipeline {

/// Of one policy. Immutable; any thread.
class body_changes {
public:
    explicit body_changes(const config::policy& policy);
    /// Whether the policy itself changes bodies. It then also takes out the nonce lines of coding agents.
    [[nodiscard]] bool asked_for() const noexcept { return asked_for_; }
    /// `body` is one that the canonicaliser accepts, decoded. nullopt: nothing had to change.
    [[nodiscard]] std::optional<std::string> apply(cache::rewriter& by, const upstream::dialect::dialect& api,
                                                   std::string_view body) const;

private:
    std::vector<cache::rewriting> of_;  // in the order of upstream::dialect::all()
    bool asked_for_;
};

}  // namespace idem::gateway::pipeline
