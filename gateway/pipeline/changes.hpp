#pragma once
// What Idem changes in the bodies of requests. A policy's normalisations come first of all, then the engine's rules
// that a policy enforces: key and forwarded body are made of the changed text alike. What speaks to gateways (LiteLLM's
// `cache`) never goes upstream, whatever the policy.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/request/enforce.hpp"
#include "cache/request/rewrite.hpp"
#include "gateway/config/config.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::pipeline {

/// What changes bodies; one a thread.
struct body_tools {
    cache::rewriter rewriter;
    cache::enforcer enforcer;
};

struct changed_body {
    std::optional<std::string> text;  // absent: nothing had to change
    std::vector<cache::conflict> conflicts;
    bool refused = false;   // some of them cannot go upstream
    bool weakened = false;  // they go upstream as they are, or there is a member that nobody knows: no guarantee
};

/// Of one policy on one engine. Immutable; any thread.
class body_changes {
public:
    /// `engine` null: the policy enforces nothing. `model`: what a model that a body names is called; empty: as it is.
    explicit body_changes(const config::policy& policy, const upstream::engine::profile* engine = nullptr,
                          std::string_view model = {});
    /// Of calls that go on as they came: what speaks to gateways goes, and the model gets its name.
    explicit body_changes(std::string_view model);
    /// Whether the policy itself changes bodies. It then also takes out the nonce lines of coding agents.
    [[nodiscard]] bool asked_for() const noexcept { return asked_for_; }
    /// `body` is one that the canonicaliser accepts, decoded.
    [[nodiscard]] changed_body apply(body_tools& by, const upstream::dialect::dialect& api,
                                     std::string_view body) const;

private:
    struct of_dialect {
        cache::rewriting rewriting;
        cache::enforcement rules;
    };
    std::vector<of_dialect> of_;  // in the order of upstream::dialect::all()
    bool asked_for_;              // as the policy says, or because there is a model's name or rules
    bool takes_nonces_;
    cache::on_conflict on_conflict_;
};

}  // namespace idem::gateway::pipeline
