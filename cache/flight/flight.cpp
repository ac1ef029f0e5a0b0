#include "cache/flight/flight.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace idem::cache {

follower::follower(std::shared_ptr<flight> of, net::executor on) : of_(std::move(of)), on_(on), signal_(on) {}

follower::~follower() {
    of_->remove(*this);
}

follower::view follower::look() {
    const std::scoped_lock lock(of_->mutex_);
    view v;
    v.version = of_->version_;
    // Both live in the flight and never change once set, so pointers to them outlast the lock.
    v.head = of_->head_ ? &*of_->head_ : nullptr;
    v.end = of_->end_ ? &*of_->end_ : nullptr;
    v.ended = of_->ended_;
    v.broke = of_->broke_;
    v.size = of_->log_.size();
    v.boundary = of_->boundary_;
    v.usage_event = of_->usage_event_;
    v.overflowed = of_->overflowed_;
    v.cut = cut_;
    return v;
}

std::string_view follower::bytes(std::uint64_t offset, std::uint64_t limit) {
    const std::scoped_lock lock(of_->mutex_);
    return of_->log_.at(offset, limit);
}

void follower::advance(std::uint64_t offset) {
    std::unique_lock lock(of_->mutex_);
    cursor_ = offset;
    if (!of_->overflowed_) return;
    of_->log_.release_before(of_->slowest());
    if (!of_->wants_space_ || of_->kept() >= of_->limits_.most) return;
    of_->wants_space_ = false;
    lock.unlock();
    boost::asio::post(of_->fill_on_, [f = of_] { f->space_.notify(); });
}

net::task<void> follower::wait(std::uint64_t version) {
    {
        const std::scoped_lock lock(of_->mutex_);
        if (interrupted_ || cut_ || of_->version_ != version) co_return;
        waiting_ = true;
    }
    // Between the unlock and the wait only this thread runs its handlers, so the wake-up cannot come too early.
    [[maybe_unused]] const bool notified = co_await signal_.wait();
    const std::scoped_lock lock(of_->mutex_);
    waiting_ = false;
}

void follower::interrupt() noexcept {
    interrupted_ = true;
    signal_.notify();
}

flight::flight(net::executor fill_on, limits l) : fill_on_(fill_on), limits_(l), space_(fill_on) {}

bool flight::add(follower& f) {
    const std::scoped_lock lock(mutex_);
    const bool broke = ended_ && !*ended_;
    if (abandoned_ || overflowed_ || invalidated_ || broke) return false;
    ++followers_;
    for (group& g : groups_) {
        if (g.on == f.on_) {
            g.members.push_back(&f);
            return true;
        }
    }
    groups_.push_back({f.on_, {&f}, false});
    return true;
}

void flight::remove(follower& f) {
    std::unique_lock lock(mutex_);
    bool found = false;
    for (group& g : groups_) {
        auto at = std::find(g.members.begin(), g.members.end(), &f);
        if (at == g.members.end()) continue;
        *at = g.members.back();
        g.members.pop_back();
        found = true;
        break;
    }
    if (!found) return;  // it was refused by add()
    --followers_;
    bool let_go = false;
    if (overflowed_ && wants_space_ && followers_ > 0) {
        log_.release_before(slowest());
        if (kept() < limits_.most) {
            wants_space_ = false;
            let_go = true;
        }
    }
    // Once all bytes are here there is nothing left to cancel: the flight stays joinable until the store has answered.
    const bool last = followers_ == 0 && !ended_;
    if (last) abandoned_ = true;
    lock.unlock();
    if (!last && !let_go) return;
    boost::asio::post(fill_on_, [self = shared_from_this(), last] {
        self->space_.notify();
        if (last && self->on_abandoned_) self->on_abandoned_();
    });
}

// Every change is published under the lock and announced once per thread; the announcement itself runs on that thread.
void flight::changed(std::unique_lock<std::mutex>& lock) {
    ++version_;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        group& g = groups_[i];
        if (g.posted || g.members.empty()) continue;
        g.posted = true;
        boost::asio::post(g.on, [self = shared_from_this(), i] { self->wake(i); });
    }
    lock.unlock();
}

void flight::wake(std::size_t group_index) {
    std::vector<std::function<void()>> cuts;
    {
        const std::scoped_lock lock(mutex_);
        group& g = groups_[group_index];
        g.posted = false;
        for (follower* f : g.members) {
            if (f->waiting_) f->signal_.notify();
            if (f->cut_ && f->on_cut_) cuts.push_back(std::exchange(f->on_cut_, nullptr));
        }
    }
    for (auto& cut : cuts) cut();
}

std::size_t flight::uncut() const {
    std::size_t n = 0;
    for (const group& g : groups_)
        n += static_cast<std::size_t>(std::ranges::count_if(g.members, [](const follower* f) { return !f->cut_; }));
    return n;
}

std::uint64_t flight::slowest() const {
    std::uint64_t least = log_.size();
    for (const group& g : groups_) {
        for (const follower* f : g.members) {
            if (!f->cut_) least = std::min(least, f->cursor_);
        }
    }
    return least;
}

void flight::begin(answer_head head) {
    std::unique_lock lock(mutex_);
    head_ = std::move(head);
    changed(lock);
}

void flight::append(std::string_view bytes, std::uint64_t boundary,
                    std::optional<upstream::dialect::byte_range> usage_event) {
    std::unique_lock lock(mutex_);
    log_.append(bytes);
    boundary_ = boundary;
    usage_event_ = usage_event;
    if (!overflowed_ && log_.size() > limits_.entry) overflowed_ = true;
    if (overflowed_) log_.release_before(slowest());
    changed(lock);
}

bool flight::overflowed() {
    const std::scoped_lock lock(mutex_);
    return overflowed_;
}

bool flight::full() {
    const std::scoped_lock lock(mutex_);
    return overflowed_ && !abandoned_ && kept() >= limits_.most;
}

void flight::cut_slow(net::time_point now) {
    std::unique_lock lock(mutex_);
    bool cut = false;
    std::size_t served = uncut();
    for (group& g : groups_) {
        for (follower* f : g.members) {
            if (log_.size() - f->cursor_ < limits_.window) {
                f->slow_since_.reset();
            } else if (!f->slow_since_) {
                f->slow_since_ = now;
            } else if (!f->cut_ && served > 1 && now - *f->slow_since_ >= limits_.patience) {
                f->cut_ = cut = true;
                --served;
            }
        }
    }
    if (!cut) return;
    log_.release_before(slowest());
    changed(lock);
}

net::task<void> flight::wait_space() {
    net::time_point until = net::time_point::max();
    {
        const std::scoped_lock lock(mutex_);
        if (kept() < limits_.most || abandoned_) co_return;
        wants_space_ = true;
        const bool contended = uncut() > 1;
        for (const group& g : groups_) {
            for (const follower* f : g.members) {
                if (contended && f->slow_since_ && !f->cut_)
                    until = std::min(until, *f->slow_since_ + limits_.patience);
            }
        }
    }
    const bool notified = co_await space_.wait(until);
    if (notified) co_return;  // space came, or everybody left
    {
        const std::scoped_lock lock(mutex_);
        wants_space_ = false;
    }
    cut_slow(net::clock::now());
}

std::string flight::body() {
    const std::scoped_lock lock(mutex_);
    return log_.join();
}

std::optional<answer_head> flight::head() {
    const std::scoped_lock lock(mutex_);
    return head_;
}

void flight::end_of_bytes(reason broke) {
    std::unique_lock lock(mutex_);
    ended_ = broke == reason::none;
    broke_ = broke;
    changed(lock);
}

void flight::finish(conclusion end) {
    std::unique_lock lock(mutex_);
    if (!ended_) {
        ended_ = end.clean;
        if (!end.clean) broke_ = end.why;
    }
    end_ = std::move(end);
    on_abandoned_ = nullptr;
    changed(lock);
}

void flight::on_abandoned(std::function<void()> callback) {
    on_abandoned_ = std::move(callback);
}

bool flight::abandoned() {
    const std::scoped_lock lock(mutex_);
    return abandoned_;
}

void flight::concerns(const ban_subject& what) {
    tags_.assign(what.tags.begin(), what.tags.end());
    names_ = {std::string(what.model), std::string(what.route), std::string(what.upstream), std::string(what.scope)};
    subject_ = what;
    subject_->tags = tags_;
    subject_->model = names_[0];
    subject_->route = names_[1];
    subject_->upstream = names_[2];
    subject_->scope = names_[3];
}

void flight::hold_against(const ban_table& bans) noexcept {
    if (subject_ && sequence_of(subject_->mark) < bans.latest() && bans.hits(*subject_)) invalidate();
}

void flight::invalidate() noexcept {
    const std::scoped_lock lock(mutex_);
    invalidated_ = true;
}

bool flight::invalidated() noexcept {
    const std::scoped_lock lock(mutex_);
    return invalidated_;
}

std::size_t flight::followers() {
    const std::scoped_lock lock(mutex_);
    return followers_;
}

}  // namespace idem::cache
