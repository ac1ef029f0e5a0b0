#pragma once
// Golden prompts as an engine gets them: held to the rules of its strict calls, from a known state. One thread.
#include <string>

#include "gateway/config/config.hpp"
#include "gateway/pipeline/treatment.hpp"
#include "upstream/determinism/reference.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::replicas {

class golden_form {
public:
    explicit golden_form(const upstream::engine::profile& engine);
    golden_form(const golden_form&) = delete;
    golden_form& operator=(const golden_form&) = delete;
    /// The body to send. As it is where the engine has no strict form of such a call.
    [[nodiscard]] std::string of(const upstream::determinism::golden_prompt& prompt);
    /// The same without what makes the engine start from a known state, where that is sent beside the rules.
    [[nodiscard]] std::string warm(const upstream::determinism::golden_prompt& prompt);
    /// Whether such a call has a strict form.
    [[nodiscard]] bool has(std::string_view path) const;

private:
    const bool strict_;
    const config::policy policy_;
    const pipeline::treatment rules_;
    pipeline::body_tools tools_;
};

}  // namespace idem::gateway::replicas
