#include "upstream/client/credential.hpp"

#include <algorithm>
#include <fstream>

namespace idem::upstream::client {
namespace {

constexpr auto look_interval = std::chrono::seconds(1);
constexpr std::size_t longest = 64 * 1024;

}  // namespace

std::optional<std::string_view> secret_in(std::string_view text) noexcept {
    const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && space(text.front())) text.remove_prefix(1);
    while (!text.empty() && space(text.back())) text.remove_suffix(1);
    const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
    if (text.empty() || text.size() > longest || std::ranges::any_of(text, control)) return std::nullopt;
    return text;
}

credential::credential(credential_settings from) : from_(std::move(from)), value_(from_.value) {}

void credential::look() {
    std::ifstream file(from_.file, std::ios::binary);
    std::string text(longest + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (const auto secret = secret_in(text)) value_ = *secret;  // else it is half written, or gone
}

std::string credential::field(net::time_point now) {
    const std::scoped_lock lock(mutex_);
    if (!from_.file.empty() && now >= look_at_) {
        look_at_ = now + look_interval;
        look();
    }
    return value_.empty() ? std::string() : from_.prefix + value_;
}

void credential::add_to(http::fields& request, net::time_point now) {
    if (own()) request.add(header(), field(now));
}

}  // namespace idem::upstream::client
