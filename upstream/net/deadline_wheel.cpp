#include "upstream/net/deadline_wheel.hpp"

namespace idem::upstream::net {

void deadline_node::unlink() noexcept {
    if (wheel_ == nullptr) return;
    if (armed_) {
        armed_ = false;
        --wheel_->armed_;
    }
    if (next_ != nullptr) next_->previous_ = previous_;
    if (previous_ != nullptr) {
        previous_->next_ = next_;
    } else if (wheel_->visiting_ == this) {
        wheel_->visiting_ = next_;
    } else {
        wheel_->heads_[slot_] = next_;
        if (next_ == nullptr) wheel_->occupied_.reset(slot_);
    }
    next_ = previous_ = nullptr;
    wheel_ = nullptr;
}

deadline_wheel::deadline_wheel(clock::duration tick, clock::time_point now) noexcept : tick_(tick) {
    current_ = ticks(now);
}

std::uint64_t deadline_wheel::ticks(clock::time_point t) const noexcept {
    const auto since = t.time_since_epoch();
    return since.count() <= 0 ? 0 : static_cast<std::uint64_t>(since / tick_);
}

std::uint64_t deadline_wheel::next_visit(std::size_t slot) const noexcept {
    return current_ + 1 + (slot - (current_ + 1)) % slots;  // modulo 2^64 is harmless: slots is a power of two
}

void deadline_wheel::link(deadline_node& node) noexcept {
    const auto slot = static_cast<std::size_t>(node.due_ % slots);
    node.slot_ = static_cast<std::uint16_t>(slot);
    node.wheel_ = this;
    node.previous_ = nullptr;
    node.next_ = heads_[slot];
    if (node.next_ != nullptr) node.next_->previous_ = &node;
    heads_[slot] = &node;
    occupied_.set(slot);
}

void deadline_wheel::arm(deadline_node& node, clock::time_point at) noexcept {
    node.expired_ = false;
    if (node.wheel_ != nullptr && node.wheel_ != this) node.unlink();
    std::uint64_t due = ticks(at - clock::duration(1)) + 1;
    if (due <= current_) due = current_ + 1;
    node.due_ = due;
    if (!node.armed_) {
        node.armed_ = true;
        ++armed_;
    }
    // A node in the part of a slot that is being visited will be looked at in a moment and linked anew there.
    if (node.wheel_ != nullptr) {
        if (next_visit(node.slot_) <= due) return;
        node.unlink();
        node.armed_ = true;
        ++armed_;
    }
    link(node);
}

void deadline_wheel::disarm(deadline_node& node) noexcept {
    if (!node.armed_) return;
    node.armed_ = false;
    --node.wheel_->armed_;
}

void deadline_wheel::visit(std::size_t slot) noexcept {
    visiting_ = heads_[slot];
    heads_[slot] = nullptr;
    occupied_.reset(slot);
    while (visiting_ != nullptr) {
        deadline_node& node = *visiting_;
        const bool armed = node.armed_;
        node.unlink();
        if (!armed) continue;
        if (node.due_ > current_) {
            node.armed_ = true;
            ++armed_;
            link(node);
            continue;
        }
        node.expired_ = true;
        node.on_expiry_(node.owner_);
    }
}

void deadline_wheel::advance(clock::time_point now) noexcept {
    const std::uint64_t target = ticks(now);
    if (advancing_ || target <= current_) return;
    advancing_ = true;
    // One turn visits every slot; the ticks before it could only visit the same slots again.
    if (target - current_ > slots) current_ = target - slots;
    while (current_ < target) {
        ++current_;
        const auto slot = static_cast<std::size_t>(current_ % slots);
        if (occupied_.test(slot)) visit(slot);
    }
    advancing_ = false;
}

std::optional<deadline_wheel::clock::time_point> deadline_wheel::next_look() const noexcept {
    if (armed_ == 0) return std::nullopt;
    for (std::uint64_t t = current_ + 1; t <= current_ + slots; ++t) {
        if (occupied_.test(static_cast<std::size_t>(t % slots))) {
            return clock::time_point(tick_ * static_cast<clock::rep>(t));
        }
    }
    return std::nullopt;
}

void deadline_wheel::clear() noexcept {
    for (deadline_node*& head : heads_) {
        while (head != nullptr) head->unlink();
    }
    occupied_.reset();
}

}  // namespace idem::upstream::net
