#pragma once
// What a request asks, worked out from its bytes alone: dialect, facts, canonical form, request digest, or the reason
// why it cannot be cached. No I/O, no clock; shared by the data path and `idem key`.
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/request/canonical.hpp"
#include "cache/request/key.hpp"
#include "gateway/config/config.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/dialect/dialect.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

struct identity {
    const upstream::dialect::dialect* api = nullptr;  // null: no dialect knows the call
    upstream::dialect::call call;
    digest request;                // with refuse == none
    std::string_view canonical;    // valid until the identifier's next call
    reason refuse = reason::none;  // why the call is not cacheable
};

/// One a thread: reuses the canonicalizer's memory.
class identifier {
public:
    /// `treatment` is treatment_of(policy); `sample` is Idem-Sample. `decoded_cap` bounds a decompressed body.
    [[nodiscard]] identity identify(const upstream::http::request_head& head, std::string_view body,
                                    const digest& treatment, std::uint32_t sample, std::uint64_t decoded_cap);
    /// The same without the canonical form: dialect and facts for routing. `body` may be compressed.
    [[nodiscard]] upstream::dialect::call read(const upstream::dialect::dialect& api, std::string_view body) const;

private:
    cache::canonicalizer canonicalizer_;
    std::string decoded_;
};

/// Digest of what this policy does to a request.
[[nodiscard]] digest treatment_of(const config::policy& policy);

}  // namespace idem::gateway::pipeline
