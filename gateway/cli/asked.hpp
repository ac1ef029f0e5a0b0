#pragma once
// What the gateway would make of a request, without sending it: for `idem key` and `idem explain`.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gateway/cli/action.hpp"
#include "gateway/pipeline/identify.hpp"
#include "gateway/pipeline/plan.hpp"

namespace idem::gateway::cli {

struct answer {
    std::string dialect, model, policy;
    std::string verdict;                 // "cacheable", "bypass" or "refused"
    std::string why;                     // the reason of a bypass or refusal
    std::string digest, canonical;       // empty for a bypass; a refused body has no canonical form
    std::string forwarded;               // the body that goes upstream, if it is not the one that was asked about
    std::vector<std::string> conflicts;  // of a refusal: "FIELD is VALUE, expected …"
    std::uint32_t seed = 0;          // what the request is sampled with under seeded, unless it brings its own; 0: none
    std::vector<std::string> items;  // digest of each thing that is kept by itself, in order (policy `items: batch`)
};

class questioner {
public:
    /// Under the configuration that the flags name, or what `idem serve --upstream URL` does to every request. nullopt:
    /// the configuration has errors, which went to standard error.
    [[nodiscard]] static std::optional<questioner> make(const request_flags& about);
    /// Under the policy of the route that the request takes; a request that no route takes has none.
    [[nodiscard]] answer ask(const std::string& body);

private:
    questioner(const request_flags& about, config::snapshot configuration);
    [[nodiscard]] reason refusal(const pipeline::identity& id, bool bad_control) const;
    upstream::http::request_head head_;
    std::uint32_t sample_;
    pipeline::plan plan_;
    pipeline::identifier identifier_, forwards_;
};

/// A file's bytes, or those of standard input for "-". nullopt: it cannot be read; said on standard error.
[[nodiscard]] std::optional<std::string> read_body(const std::string& file);

}  // namespace idem::gateway::cli
