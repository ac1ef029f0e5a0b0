#include "gateway/pipeline/origins.hpp"

#include <algorithm>

#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

using upstream::http::iequals;

namespace {

constexpr std::size_t longest_origin = 256;  // a scheme, a host name of at most 253, a port
constexpr std::string_view repeated[] = {"access-control-allow-origin", "access-control-allow-credentials",
                                         "access-control-expose-headers", "timing-allow-origin"};

}  // namespace

std::shared_ptr<const std::string> origin_memory::find(std::string_view origin) const {
    const std::scoped_lock lock(mutex_);
    const auto at = said_.find(std::string(origin));
    return at == said_.end() ? nullptr : at->second;
}

void origin_memory::learn(std::string_view origin, const upstream::http::fields& answer) {
    if (origin.size() > longest_origin) return;
    std::string lines;
    for (const auto [name, value] : answer) {
        const auto same = [&](std::string_view n) { return iequals(n, name); };
        if (std::ranges::any_of(repeated, same)) upstream::http::append_field(lines, name, value);
    }
    // RFC 9110 section 12.5.5: another origin may be told something else.
    if (!lines.empty()) lines += "Vary: Origin\r\n";
    const std::scoped_lock lock(mutex_);
    const auto [at, made] = said_.try_emplace(std::string(origin));
    if (made || *at->second != lines) at->second = std::make_shared<const std::string>(std::move(lines));
    if (made) order_.emplace_back(origin);
    if (order_.size() <= most_) return;
    said_.erase(order_.front());
    order_.pop_front();
}

}  // namespace idem::gateway::pipeline
