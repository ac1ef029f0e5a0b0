#pragma once
// From text, environment and flags to a complete configuration, or to every error at once. No I/O of its own: the world
// is an argument. See sources.hpp for the shell.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/config/config.hpp"
#include "gateway/config/document.hpp"
#include "gateway/config/expand.hpp"
#include "gateway/config/override.hpp"

namespace idem::gateway::config {

struct world {
    environment_lookup environment;
    std::function<std::optional<std::string>(const std::string& path)> read_file;
    std::uint64_t memory_limit = 0;  // bytes that percentages are of
};

/// `idem serve --upstream URL`: takes the place of the file's upstreams and routes.
struct shortcut {
    std::string url;
    std::string engine;  // empty: the default
    std::string label = "--upstream";
};

struct input {
    std::string text;                // of the file; empty where there is none
    std::string name = "idem.yaml";  // how messages call it
    std::optional<shortcut> upstream;
    std::vector<setting> settings;  // later ones win
};

/// Where each path of the configuration was said, e.g. "upstreams[0].replicas[1].url".
using places = std::map<std::string, place>;

struct loaded {
    configuration value;          // usable only without errors
    std::vector<problem> errors;  // in the order of the file
    std::vector<problem> warnings;
    places said;
};

/// Reads and validates.
[[nodiscard]] loaded load(const input& in, const world& w);

}  // namespace idem::gateway::config
