#pragma once
// The limits on calls upstream for all threads, and a call's permission under them.
#include <mutex>
#include <utility>

#include "cache/policy/call_limits.hpp"
#include "upstream/net/net.hpp"

namespace idem::gateway::pipeline {

class call_gate;

/// Gives the permission back when it goes.
class call_pass {
public:
    call_pass() = default;
    ~call_pass();
    call_pass(call_pass&& from) noexcept : of_(std::exchange(from.of_, nullptr)), caller_(from.caller_) {}
    call_pass& operator=(call_pass&&) = delete;

private:
    friend class call_gate;
    call_pass(call_gate& of, const digest& caller) noexcept : of_(&of), caller_(caller) {}
    call_gate* of_ = nullptr;
    digest caller_{};
};

/// Any thread.
class call_gate {
public:
    explicit call_gate(cache::call_limit_rules rules) : limited_(rules.any()), limits_(rules) {}
    /// False: nobody need find out who the caller is.
    [[nodiscard]] bool limited() const noexcept { return limited_; }

    struct answer {
        call_pass pass;
        cache::call_limits::verdict said;
    };
    /// Where nothing is limited, at no cost.
    [[nodiscard]] answer ask(const digest& caller, upstream::net::time_point now) {
        if (!limited_) return {};
        const std::lock_guard lock(mutex_);
        const auto said = limits_.begin(caller, now);
        return {said.why == reason::none ? call_pass(*this, caller) : call_pass(), said};
    }

private:
    friend class call_pass;
    const bool limited_;
    std::mutex mutex_;
    cache::call_limits limits_;
};

inline call_pass::~call_pass() {
    if (!of_) return;
    const std::lock_guard lock(of_->mutex_);
    of_->limits_.end(caller_);
}

}  // namespace idem::gateway::pipeline
