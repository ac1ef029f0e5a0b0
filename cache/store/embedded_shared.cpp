#include "cache/store/embedded_shared.hpp"

namespace idem::cache {

std::string embedded_condition::text() const {
    const std::lock_guard lock(mutex_);
    return text_;
}

void embedded_condition::good() {
    change(true, true, "ok");
}

void embedded_condition::no_writing(std::string_view why) {
    change(true, false, "writing suspended: " + std::string(why));
}

void embedded_condition::no_use(std::string_view why) {
    change(false, false, "memory only: " + std::string(why));
}

void embedded_condition::say(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (log_) log_("embedded store: " + std::string(line));
}

void embedded_condition::mute() {
    const std::lock_guard lock(mutex_);
    log_ = nullptr;
}

void embedded_condition::change(bool readable, bool writable, std::string text) {
    const std::lock_guard lock(mutex_);
    readable_.store(readable, std::memory_order_release);
    writable_.store(writable, std::memory_order_release);
    if (text == text_) return;
    const bool quiet = text_ == "opening" && text == "ok";
    text_ = std::move(text);
    if (log_ && !quiet) log_("embedded store: " + text_);
}

void recent_use::note(std::int64_t seq) {
    const std::lock_guard lock(mutex_);
    current_.insert(seq);
    if (current_.size() < most) return;
    previous_ = std::move(current_);
    current_ = {};
}

bool recent_use::take(std::int64_t seq) {
    const std::lock_guard lock(mutex_);
    return (current_.erase(seq) | previous_.erase(seq)) != 0;
}

}  // namespace idem::cache
