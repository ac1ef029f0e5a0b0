#pragma once
// The shell around load(): finds and reads the file, the environment and the memory limit. Blocks on files; for
// start-up and commands only.
#include <optional>
#include <string>
#include <vector>

#include "gateway/config/loader.hpp"

namespace idem::gateway::config {

struct sources {
    std::optional<std::string>
        file;  // -c; else $IDEM_CONFIG, ./idem.yaml, /etc/idem/idem.yaml, whichever is there first
    std::optional<std::string> upstream, engine;  // --upstream, --engine; else $IDEM_UPSTREAM, $IDEM_ENGINE
    std::vector<setting> settings;                // of flags
};

struct outcome_of_load {
    loaded result;
    std::string file;     // that was read; empty if none
    bool unread = false;  // there is one that could not be read: the only error
};

[[nodiscard]] outcome_of_load load_from(const sources& s);

/// Bytes that this process may use: the least memory.max of its cgroup (v2) and those above, else the machine's memory.
[[nodiscard]] std::uint64_t memory_limit();

}  // namespace idem::gateway::config
