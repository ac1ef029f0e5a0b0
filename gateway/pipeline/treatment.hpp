#pragma once
// What one policy does to the requests of one engine: what it changes in bodies, what it refuses, what it adds where
// they are sent, and the digest that keeps answers of different treatments apart. Made once per configuration,
// immutable; any thread.
#include <string>
#include <string_view>
#include <vector>

#include "gateway/config/config.hpp"
#include "gateway/pipeline/changes.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::pipeline {

class treatment {
public:
    /// `model`: the name that the model goes upstream by; empty: the client's. The policy outlives it.
    treatment(const config::policy& policy, const upstream::engine::profile& engine, std::string_view model);
    /// Of calls that are cached, and under strict and seeded of all others that can be read.
    [[nodiscard]] const body_changes& changes() const noexcept { return changes_; }
    /// Of calls that go on as they came, but for what speaks to gateways and the model's name.
    [[nodiscard]] const body_changes& least() const noexcept { return least_; }
    /// Whether calls of that API are held to rules.
    [[nodiscard]] bool enforces(const upstream::dialect::dialect& api) const noexcept;
    /// no_deterministic_form where calls of that API cannot be held to what the policy says.
    [[nodiscard]] reason refuses(const upstream::dialect::dialect& api) const noexcept;
    /// The same of a call that belongs to no API: under strict and seeded only what changes nothing goes on.
    [[nodiscard]] reason refuses(std::string_view method, std::string_view path, bool upgrade) const;
    /// The APIs of which the engine has what the policy asks for, with commas.
    [[nodiscard]] std::string deterministic_forms() const;
    /// Enters the digest of requests of that API. `weakened`: a client's value stands where the policy has its own.
    [[nodiscard]] digest of(const upstream::dialect::dialect& api, bool weakened) const noexcept;
    /// What goes upstream and enters no digest: under strict a salt that starts the engine from a known state, under
    /// seeded the seed that the request's digest gives. `body` is plain JSON, `salt` random.
    [[nodiscard]] std::string as_sent(std::string body, const upstream::dialect::dialect& api, const digest& request,
                                      const id128& salt) const;
    [[nodiscard]] bool adds_when_sent(const upstream::dialect::dialect& api) const noexcept;
    [[nodiscard]] bool renames() const noexcept { return renames_; }

private:
    [[nodiscard]] bool has(const upstream::engine::request_form& form) const noexcept;
    struct digests {
        digest plain, weakened;
    };
    const config::policy& policy_;
    const upstream::engine::profile& engine_;
    body_changes changes_, least_;
    std::vector<digests> of_;  // in the order of upstream::dialect::all()
    bool renames_;
};

/// What a policy does to requests of one API, in words.
[[nodiscard]] std::vector<std::string> treatment_statements(const config::policy& policy,
                                                            const upstream::engine::profile& engine,
                                                            std::string_view dialect, bool weakened = false);

}  // namespace idem::gateway::pipeline
