#include "upstream/engine/profile.hpp"

#include <algorithm>
#include <array>

namespace idem::upstream::engine {

std::span<const profile* const> all() noexcept {
    static constexpr std::array<const profile*, 6> profiles = {&generic, &llamacpp, &ollama, &openai, &sglang, &vllm};
    return profiles;
}

bool known(std::string_view name) noexcept {
    for (std::string_view rest = names; !rest.empty();) {
        const auto end = std::min(rest.find('|'), rest.size());
        if (rest.substr(0, end) == name) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

const profile* find(std::string_view name) noexcept {
    const auto profiles = all();
    const auto at = std::find_if(profiles.begin(), profiles.end(), [&](const profile* p) { return p->name == name; });
    return at == profiles.end() ? nullptr : *at;
}

}  // namespace idem::upstream::engine
