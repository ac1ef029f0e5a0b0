#include "upstream/route/slot_queue.hpp"

namespace idem::upstream::route {

bool slot_queue::begin(call_kind kind) noexcept {
    if (!room() || waiting() > 0) return false;
    if (rules_.no_mixing && in_flight_ > 0 && turn_ != kind) return false;
    turn_ = kind;
    ++in_flight_;
    return true;
}

std::optional<slot_queue::ticket> slot_queue::queue(call_kind kind, void* owner) {
    if (waiting() >= rules_.queue) return std::nullopt;
    std::list<place>& line = of(kind);
    line.push_back({kind, ++issued_, owner});
    return std::prev(line.end());
}

void slot_queue::leave(ticket at) noexcept {
    of(at->kind).erase(at);
}

std::optional<slot_queue::place> slot_queue::next() noexcept {
    if (!room() || waiting() == 0) return std::nullopt;
    std::list<place>* line = &waiting_[0];
    if (rules_.no_mixing) {
        std::list<place>&greedy = waiting_[0], &sampled = waiting_[1];
        if (in_flight_ == 0) {
            const bool greedy_first =
                sampled.empty() || (!greedy.empty() && greedy.front().number < sampled.front().number);
            turn_ = greedy_first ? call_kind::greedy : call_kind::sampled;
            turn_end_ = issued_;
        }
        line = &of(turn_);
        const bool others_wait = !of(turn_ == call_kind::greedy ? call_kind::sampled : call_kind::greedy).empty();
        if (line->empty() || (others_wait && line->front().number > turn_end_)) return std::nullopt;
    }
    const place first = line->front();
    line->pop_front();
    turn_ = first.kind;
    ++in_flight_;
    return first;
}

}  // namespace idem::upstream::route
