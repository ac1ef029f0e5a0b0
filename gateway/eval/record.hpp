#pragma once
// What an evaluation writes down, and all that its report is made of: manifest.json, which says what was asked for, and
// runs.jsonl, a line for each run and each block in the order in which they ended. Plain data and pure functions; any
// thread.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace idem::gateway::eval {

inline constexpr unsigned record_version = 1;

struct prompt {
    std::string id;
    std::string kind;  // "near-tie", "code", …
    std::string path;  // of the call
    std::string body;  // as it stands in the prompt file; the cell's form of it is what goes out
    unsigned runs = 0;
    std::string check{};  // of the task, for reports: upstream/determinism/compare/task.hpp; empty: none
};

struct skipped_cell {
    std::string cell, why;
};

/// One of several that should answer alike.
struct server {
    std::string id, url;
    std::string environment;  // id, of the first look
};

struct manifest {
    std::string idem;  // the version that wrote it
    std::string target, engine, model, preset;
    std::string input = "text";  // or "tokens": the prompts' bodies have token ids
    std::string upstream;        // of the configuration, which had the target; empty: none
    std::string gateway;         // its URL, of the cell of that name; empty: none
    std::uint64_t seed = 0;
    double p_max = 0.03, confidence = 0.95;
    std::int64_t started = 0;        // Unix milliseconds
    std::vector<std::string> cells;  // that were planned
    std::vector<skipped_cell> skipped;
    std::vector<prompt> prompts;
    std::vector<server> replicas;    // of the cell of that name, the target first; empty: there is but one
    std::string environment;         // id, of the first look
    std::vector<std::string> facts;  // "name=value (provenance)"
};

struct run_record {
    std::string cell, prompt, variant;
    unsigned run = 0, block = 0;
    unsigned lifetime = 0;   // of the server: how often it was started anew before
    std::uint64_t seed = 0;  // 0: none was sent
    std::int64_t at = 0;     // Unix milliseconds when it was sent
    double first_byte_ms = 0, total_ms = 0;
    unsigned in_flight = 0;     // of ours when it was sent, itself among them
    unsigned status = 0;        // 0: no answer
    std::string error;          // a reason, or empty
    std::string form = "json";  // or "sse"
    std::string body;           // the answer as it came; base64 in the file where it is not UTF-8
};

struct block_record {
    unsigned block = 0;
    std::string cell;
    std::string environment_before, environment_after;  // ids; "unknown" where it could not be read
    std::string elsewhere_before, elsewhere_after;    // of the other replicas, in their cell: "b=…; c=…", or "unknown"
    int peak_running = -1;                            // calls in the engine as it said itself; -1: it does not say
    unsigned peak_in_flight = 0;                      // of ours
    unsigned others_answered = 0, others_failed = 0;  // calls before or beside the runs
};

struct recording {
    manifest about;
    std::vector<run_record> runs;
    std::vector<block_record> blocks;
    bool torn = false;  // the last line was not whole, and was left out
};

[[nodiscard]] std::string to_json(const manifest& m);
[[nodiscard]] std::string to_line(const run_record& r);    // without its line break
[[nodiscard]] std::string to_line(const block_record& b);  // likewise

/// `error` says what is wrong, with the line; a last line that was cut off is no error.
[[nodiscard]] bool read_manifest(std::string_view json, manifest& into, std::string& error);
[[nodiscard]] bool read_lines(std::string_view lines, recording& into, std::string& error);

/// Both files of a directory.
[[nodiscard]] bool read_directory(const std::string& directory, recording& into, std::string& error);

}  // namespace idem::gateway::eval
