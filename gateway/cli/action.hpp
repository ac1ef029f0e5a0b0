#pragma once
// What a command line asks for: one type a command, made by parse(), carried out by perform(). Plain data.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gateway/config/sources.hpp"
#include "upstream/simulate/options.hpp"

namespace idem::gateway::cli {

enum class form : std::uint8_t { table, json };

struct serve_action {
    config::sources from;
};
struct check_action {
    config::sources from;
    form output = form::table;
};
struct config_action {
    enum class what : std::uint8_t { effective, defaults, schema, reference } which = what::effective;
    config::sources from;
};
/// A request but for its body, and the configuration it meets.
struct request_flags {
    std::string method = "POST";
    std::string path = "/v1/chat/completions";
    std::vector<std::pair<std::string, std::string>> headers;
    std::uint32_t sample = 0;
    config::sources from;
    bool configured = false;  // -c was given
};
struct key_action {
    std::string file = "-";
    request_flags about;
    bool lines = false;  // every line of the file is a body
    form output = form::table;
};
struct explain_action {
    std::string a, b;
    request_flags about;
    form output = form::table;
};
struct simulate_action {
    upstream::simulate::simulate_options options;
};
struct healthcheck_action {
    std::optional<std::string> address;  // else from the configuration
    config::sources from;
};
/// Which running gateway a command talks to.
struct admin_flags {
    std::optional<std::string> address;  // of its admin listener; else from the configuration
    config::sources from;
};
struct replicas_action {
    std::string what = "list";  // list, attest, quarantine, readmit or drain
    std::string replica, upstream;
    bool record = false;  // with attest: the outputs become the reference
    admin_flags where;
    form output = form::table;
};
struct eval_action {
    enum class task : std::uint8_t { run, report, compare, baseline, gate } what = task::run;
    std::string target, bearer_env, key_header, engine = "generic", model, prompts, preset = "gate", input = "text";
    std::string upstream, config;       // in place of target, engine and replicas: one of that file
    std::string gateway;                // that calls the target
    std::vector<std::string> replicas;  // URLs, beside the target's
    std::vector<std::string> cells;     // empty: the preset's
    unsigned runs = 0;                  // 0: the preset's
    std::optional<std::uint64_t> seed;
    std::optional<double> p_max;
    double confidence = 0.95;
    std::chrono::milliseconds budget{0};
    std::string out, directory, other, baseline;
    bool resume = false;               // what lies in `out` goes on
    std::vector<std::string> restart;  // words of a command that starts the server anew
    std::chrono::milliseconds restart_limit{600'000};
};
struct cache_action {
    enum class what : std::uint8_t { stats, list, get, purge, erase, epochs, open_epoch, rollback } which = what::stats;
    std::string key;                            // get
    bool body = false;                          // get: the answer, too
    std::string kind, value;                    // purge, erase: "tag", "nightly"; of all the value is empty
    bool dry_run = false;                       // purge, erase
    std::string model, tag, route;              // list
    std::uint64_t limit = 100;                  // list
    std::string epoch, upstream, why, replica;  // rollback; open_epoch
    admin_flags where;
    form output = form::table;
};
struct drift_action {
    std::string before, after;  // epochs
    admin_flags where;
    form output = form::table;
};
struct receipt_action {
    enum class what : std::uint8_t { show, verify, audit, create_key, public_key } which = what::show;
    std::string file;         // what is looked at; with show the key of an entry
    std::string fill;         // show: of that fill; empty: the youngest
    std::string public_key;   // verify, audit: a file; empty: that of the configuration's data directory
    std::string entry;        // verify: a file with the answer
    std::string head;         // audit: a file with signed heads
    bool normalised = false;  // verify: the same output in another form is good enough
    admin_flags where;
    form output = form::table;
};
struct version_action {
    bool json = false;
};
/// Help, completions, usage errors: nothing to do but print.
struct message {
    std::string text;
    int status = 0;  // 2: goes to standard error
};

using action = std::variant<message, serve_action, check_action, config_action, key_action, explain_action,
                            simulate_action, healthcheck_action, replicas_action, eval_action, cache_action,
                            drift_action, receipt_action, version_action>;

}  // namespace idem::gateway::cli
