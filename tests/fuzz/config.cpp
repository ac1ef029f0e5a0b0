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

config::loaded load(const std::string& text) {
    const config::world w{
        .environment =
            [](const std::string& name) { return name == "S" ? std::optional<std::string>("secret") : std::nullopt; },
        .read_file = [](const std::string&) { return std::optional("alice " + std::string(64, 'a') + "\n"); },
        .memory_limit = 1ull << 30};
    return config::load({.text = text, .name = "f"}, w);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const config::loaded first = load(std::string(reinterpret_cast<const char*>(data), size));
    for (const auto* list : {&first.errors, &first.warnings}) {
        for (const auto& p : *list) {
            check(!p.at.source.empty() && !p.message.empty());
        }
    }
    if (!first.errors.empty()) return 0;
    const std::string text = config::describe_effective(first.value);
    const config::loaded second = load(text);
    // Two secrets become the same stars, which is an error of its own.
    const bool two_tokens = !first.value.admin.token.empty() && !first.value.admin.read_token.empty();
    check(second.errors.empty() || two_tokens);
    if (!two_tokens) check(config::describe_effective(second.value) == text);
    return 0;
}
