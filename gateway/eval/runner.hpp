#pragma once
// Carries an evaluation out against one server: block after block, writing down each run as it ends. A shell;
// everything runs on one io_context, which run() drives.
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/eval/plan.hpp"
#include "gateway/eval/record.hpp"
#include "upstream/client/exchange.hpp"
#include "upstream/client/target.hpp"
#include "upstream/http/fields.hpp"

namespace idem::gateway::eval {

struct run_settings {
    upstream::client::target to;
    std::optional<upstream::client::target> gateway;  // that calls `to`
    std::vector<upstream::client::target> replicas;   // where manifest::replicas are, `to` first
    upstream::client::timeouts timeouts{};
    upstream::http::fields credential;
    std::vector<std::string> restart;  // words of the command that starts the server anew; empty: there is none
    std::chrono::milliseconds restart_limit{600'000};  // for the command, and for the server to be there again
    std::string directory;                             // exists
    std::chrono::milliseconds budget{0};               // 0: none
    bool resume = false;  // the directory holds an evaluation that was broken off: `about` is its manifest
};

struct progress {
    std::uint64_t done = 0, planned = 0;
    std::chrono::milliseconds took{0};
};

/// What is to be done, of the runs alone: calls beside them and before them come on top.
struct forecast {
    std::uint64_t runs = 0;  // answers that are compared
    double ms = 0;
};

struct outcome {
    std::string error;         // why nothing could be measured; else empty
    bool interrupted = false;  // by a signal
    std::string broken_off;    // why it ended before its time; what was measured is written down
    std::uint64_t runs = 0;
};

/// Fills in what `about` lacks (model, facts, environment), says what will be done (`announce`), does it, and calls
/// `show` now and then. `about.prompts` say the runs of each; with a budget they are cut, and `about` says what was
/// kept.
[[nodiscard]] outcome run(const run_settings& settings, manifest& about, std::vector<cell> cells,
                          const std::function<void(const manifest&, const forecast&)>& announce,
                          const std::function<void(const progress&)>& show);

}  // namespace idem::gateway::eval
