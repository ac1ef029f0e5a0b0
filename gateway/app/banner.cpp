#include "gateway/app/banner.hpp"

#include <algorithm>
#include <filesystem>

#include "gateway/config/text.hpp"

namespace idem::gateway::app {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// Redis is asked for the first time later, and says for itself whether it answers.
std::string second_tier(const config::cache& c) {
    if (c.store == config::cache::tier::redis) return "Redis, once it answers";
    return absolute_path(c.embedded_path) + " (" + config::format_size(c.embedded_size) + ")";
}

}  // namespace

std::string absolute_path(const std::string& path) {
    std::error_code ec;
    const auto full = std::filesystem::absolute(path, ec);
    return ec ? path : full.lexically_normal().string();
}

banner storage_banner(const config::configuration& c, const std::optional<cache::store_stats>& second) {
    // A share of the machine's memory is no round number.
    const std::uint64_t round = c.cache.memory < mebibyte ? c.cache.memory : c.cache.memory / mebibyte * mebibyte;
    const std::string memory = c.cache.memory == 0 ? "" : "memory (" + config::format_size(round) + ")";
    if (!second) return {true, "answers are kept in " + memory + " only, and lost at the end"};
    if (c.cache.store != config::cache::tier::embedded || second->healthy)
        return {true, "answers are kept in " + memory + (memory.empty() ? "" : " and in ") + second_tier(c.cache)};
    banner b{false, absolute_path(c.cache.embedded_path) + " does not work as a store (" + second->state + "). "};
    b.text += memory.empty() ? "Requests are served; no answer is kept, so every call is computed"
                             : "Requests are served; answers are kept in " + memory + " only, and lost at the end";
    const bool refuses =
        std::any_of(c.policies.begin(), c.policies.end(), [](const auto& p) { return p.store_required; });
    if (refuses) b.text += "; under policies with store_required they get 503";
    return b;
}

}  // namespace idem::gateway::app
