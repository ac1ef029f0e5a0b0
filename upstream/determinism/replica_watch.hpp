#pragma once
// The life of one replica as whoever watches it decides it: what to ask next, and what the answers make of its state.
// No I/O and no clock: the keeper asks next(), does it, and tells. Not thread-safe.
//
// A replica is admitted once it is healthy, its facts are those of the epoch and keep every lock, and its golden
// prompts gave the reference's outputs. It leaves that state when a request could not reach it or its facts have
// changed, and comes back the same way. What an operator ordered, and an output that was not the reference's, stay
// until an operator readmits it; everything else heals by itself once it is over.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "upstream/determinism/reference.hpp"
#include "upstream/determinism/replica_state.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::determinism {

struct watch_settings {
    net::duration health_interval = std::chrono::seconds(5);
    net::duration facts_interval = std::chrono::seconds(30);
    net::duration attest_interval = std::chrono::minutes(15);
    unsigned health_failures = 3;  // in a row, for an admitted replica to be down
    bool attests = true;           // golden prompts are run
    // How often at greater length, before admission as well; 0: never.
    net::duration evaluation_interval = net::duration::zero();
};

class replica_watch {
public:
    using time_point = net::time_point;
    explicit replica_watch(watch_settings settings) : settings_(settings) {}

    enum class step : std::uint8_t { wait, check_health, read_facts, attest };
    struct action {
        step what = step::wait;
        time_point until{};     // with wait
        bool thorough = false;  // with attest: at greater length
    };
    [[nodiscard]] action next(time_point now) const;

    // What came of it.
    void health(bool reached, bool good, std::string detail, time_point now);
    void facts(const environment& read, const std::vector<violation>& violated, time_point now);
    void facts_unread(std::string detail, time_point now);
    /// `with` is null while the upstream has no reference. `may_quarantine`: enough others remain.
    void attested(attestation result, const reference* with, std::span<const golden_prompt> prompts,
                  bool may_quarantine, time_point now);
    /// A reference came up, or another: judges what was attested last.
    void judge(const reference& with, std::span<const golden_prompt> prompts, bool may_quarantine);

    // What happened outside.
    void suspected(time_point now);
    /// It is to blame for live answers that came out otherwise when they were run again.
    void diverged(bool may_quarantine);
    /// The environment of the epoch that is current, and its id; absent: not known.
    void epoch(std::optional<digest> environment, time_point now, const id128& id = {});
    enum class order : std::uint8_t { quarantine, drain, readmit, attest };
    void obey(order what, time_point now);

    [[nodiscard]] replica_state state() const noexcept { return state_; }
    [[nodiscard]] cause why() const noexcept { return why_; }
    [[nodiscard]] const std::string& detail() const noexcept { return detail_; }
    [[nodiscard]] std::uint32_t runs() const noexcept { return runs_; }
    [[nodiscard]] bool diverging() const noexcept { return diverging_; }
    /// Its facts are those of the epoch, and its answers say that it is another server.
    [[nodiscard]] bool moved() const noexcept { return moved_; }
    /// As read last; null before.
    [[nodiscard]] const std::optional<environment>& read() const noexcept { return read_; }
    /// The last steady attestation in the present environment; null without.
    [[nodiscard]] const attestation* attested() const noexcept { return attested_ ? &*attested_ : nullptr; }
    /// Held by an operator's order, or for an output of its own.
    [[nodiscard]] bool held() const noexcept { return held_; }
    /// Takes up what was written down by whoever watched before: what has to stay, and nothing else.
    void restore(replica_state state, cause why, std::string detail);
    /// Goes on from what somebody else, who watched until a moment ago, has found; `outputs` may be empty.
    void succeed(const condition& found, std::vector<golden_output> outputs, time_point now);

private:
    void become(replica_state state, cause why, std::string detail = {});
    void hurry(time_point now);
    void forget() noexcept;
    void place(time_point now);
    void conclude(const reference& with, std::span<const golden_prompt> prompts, bool may_quarantine);
    void reject(cause why, std::string detail, bool may_quarantine);

    watch_settings settings_;
    replica_state state_ = replica_state::probing;
    cause why_ = cause::starting;
    std::string detail_;
    bool held_ = false;
    bool moved_ = false;
    bool healthy_ = false;
    unsigned failures_ = 0;  // of health, in a row
    std::optional<environment> read_;
    std::vector<violation> violated_;
    std::optional<digest> epoch_;  // its environment
    id128 epoch_id_;
    std::optional<attestation> attested_;
    bool proven_ = false;  // attested_ gave the reference's outputs
    std::uint32_t runs_ = 0;
    bool diverging_ = false;
    time_point health_due_{}, facts_due_{}, attest_due_{};
    time_point evaluation_due_{};  // at first: before anything else
};

}  // namespace idem::upstream::determinism
