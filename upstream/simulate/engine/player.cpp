#include "upstream/simulate/engine/player.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "upstream/base/digest.hpp"
#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::simulate::engine {
namespace {

constexpr std::array<const player*, 13> players = {&anthropic, &azure,   &gemini, &generic, &llamacpp,
                                                   &lmdeploy,  &mistral, &ollama, &openai,  &sglang,
                                                   &tgi,       &trtllm,  &vllm};

bool matches(const page& p, std::string_view path, std::string_view query) noexcept {
    const bool open = p.path.ends_with('*');
    const bool same = open ? path.starts_with(p.path.substr(0, p.path.size() - 1)) : path == p.path;
    return same && (p.query.empty() || query.find(p.query) != std::string_view::npos);
}

std::string escaped(std::string_view text) {
    std::string out;
    dialect::append_json_string(out, text);
    return out.substr(1, out.size() - 2);
}

// Nothing for what is no word of the templates.
std::optional<std::string> word(std::string_view name, const situation& s) {
    const auto hash = [&](std::size_t size) {
        return to_hex(sha256(s.version + '#' + std::to_string(s.environment)).bytes).substr(0, size);
    };
    if (name == "version") return escaped(s.version);
    if (name == "model") return escaped(s.model);
    if (name == "running") return std::to_string(s.running);
    if (name == "busy") return s.running > 0 ? "true" : "false";
    if (name == "kept") return s.kept ? "true" : "false";
    if (name == "process") return std::to_string(s.process);
    if (name == "now") return std::to_string(s.now);
    if (name == "environment") return std::to_string(s.environment);
    if (name == "hash8") return hash(8);
    if (name == "hash64") return hash(64);
    return std::nullopt;
}

}  // namespace

const player& find(std::string_view name) noexcept {
    const auto at = std::ranges::find(players, name, [](const player* p) { return p->name; });
    return at == players.end() ? generic : **at;
}

const page* page_of(const player& as, std::string_view method, std::string_view target) noexcept {
    const std::string_view path = target.substr(0, target.find('?'));
    const std::string_view query = target.substr(std::min(path.size() + 1, target.size()));
    if (method == "HEAD") method = "GET";
    const auto at = std::ranges::find_if(
        as.pages, [&](const page& each) { return each.method == method && matches(each, path, query); });
    return at == as.pages.end() ? nullptr : &*at;
}

std::string version_of(const player& as, std::string_view told, unsigned environment) {
    std::string out(told);
    if (told.empty()) out = written(as.version, {.environment = environment});
    if (environment > 0) out += ".post" + std::to_string(environment);
    return out;
}

std::string written(std::string_view text, const situation& now) {
    std::string out;
    for (;;) {
        const std::size_t begin = text.find('%');
        const std::size_t end = text.find('%', begin + 1);
        if (begin == std::string_view::npos || end == std::string_view::npos) return out.append(text);
        const auto stands = word(text.substr(begin + 1, end - begin - 1), now);
        out.append(text.substr(0, stands ? begin : begin + 1)).append(stands.value_or(""));
        text.remove_prefix(stands ? end + 1 : begin + 1);
    }
}

}  // namespace idem::upstream::simulate::engine
