// The configuration's loader on any text: it never throws, names a place for every complaint, and what loads
// without complaint is described as text that loads to the same.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "gateway/config/describe.hpp"
#include "gateway/config/loader.hpp"

namespace {

namespace config = idem::gateway::config;

void check(bool holds) {
    if (!holds) std::abort();
}

// `all`: every variable is set, to a value of its own.
config::loaded load(const std::string& text, bool all) {
    const config::world w{
        .environment = [all](const std::string& name) -> std::optional<std::string> {
            if (name == "S") return "secret";
            return all ? std::optional("a secret named " + name) : std::nullopt;
        },
        .read_file = [](const std::string&) { return std::optional("alice " + std::string(64, 'a') + "\n"); },
        .memory_limit = 1ull << 30};
    return config::load({.text = text, .name = "f"}, w);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const config::loaded first = load(std::string(reinterpret_cast<const char*>(data), size), false);
    for (const auto* list : {&first.errors, &first.warnings}) {
        for (const auto& p : *list) {
            check(!p.at.source.empty() && !p.message.empty());
        }
    }
    if (!first.errors.empty()) return 0;
    const std::string text = config::describe_effective(first.value);
    // Secrets are written as variables that hold them.
    const config::loaded second = load(text, true);
    check(second.errors.empty());
    check(config::describe_effective(second.value) == text);
    return 0;
}
