#include "cache/redis/session.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace idem::cache::redis {
namespace {

// Up to here commands are copied together; above, a copy costs more than a write of its own.
constexpr std::size_t joined_limit = std::size_t{16} << 10;
// One write at most: its end is the sign of life while a large value goes out.
constexpr std::size_t write_limit = std::size_t{256} << 10;

[[nodiscard]] std::string hex(std::uint64_t value) {
    std::array<char, 16> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, 16).ptr;
    return {text.data(), end};
}

}  // namespace

session::session(const session_settings& settings, std::uint64_t nonce)
    : settings_(settings), nonce_(nonce), parser_(settings.limits) {}

void session::start(time_point now) {
    state_ = state::connecting;
    started_ = now;
    connect_wanted_ = true;
}

void session::connected(time_point now) {
    if (state_ != state::connecting) {
        return;
    }
    state_ = state::handshake;
    progress_ = now;
    handshake(now);
}

// All in one write: a failed AUTH fails the rest, and the PING at the end proves that the connection serves, within the
// deadline that every command will have.
void session::handshake(time_point now) {
    const auto internal = [&](purpose what) { return slot{.what = what, .queued = now}; };
    if (!settings_.password.empty()) {
        send(command::auth(settings_.user, settings_.password), internal(purpose::auth));
    }
    if (!settings_.name.empty()) {
        send(command::client_setname(settings_.name), internal(purpose::set_name));
    }
    if (settings_.database != 0) {
        send(command::select(settings_.database), internal(purpose::select));
    }
    send_ping(now);
}

void session::send_ping(time_point now) {
    ping_text_ = hex(nonce_++);
    send(command::ping(ping_text_), slot{.what = purpose::ping, .queued = now});
    next_ping_ = time_point::max();
}

void session::send(command what, slot s) {
    if (slots_.empty()) {
        progress_ = std::max(progress_, s.queued);
    }
    const std::string_view wire = what.wire();
    queued_total_ += wire.size();
    s.answers = what.answers();
    s.end = queued_total_;
    slots_.push_back(s);
    if (wire.size() > joined_limit) {
        output_.emplace_back().large = std::move(what);
        return;
    }
    const bool open_end = !output_.empty() && !output_.back().large && !(writing_ && output_.size() == 1);
    if (!open_end || output_.back().joined.size() + wire.size() > write_limit) {
        output_.emplace_back();
    }
    output_.back().joined.append(wire);
}

std::optional<slot_id> session::enqueue(command what, std::uint64_t token, time_point now) {
    const std::size_t pending = waiting_bytes_ + static_cast<std::size_t>(queued_total_ - written_total_);
    if (!open() || callers_ >= settings_.slots || pending + what.wire().size() > settings_.queued_bytes) {
        return std::nullopt;
    }
    ++callers_;
    const slot_id id = ++last_id_;
    if (state_ == state::ready) {
        send(std::move(what), slot{.id = id, .token = token, .queued = now});
    } else {
        waiting_bytes_ += what.wire().size();
        waiting_.push_back({id, token, now, std::move(what)});
    }
    return id;
}

void session::detach(slot_id id) noexcept {
    if (const auto w = std::ranges::find(waiting_, id, &waiting_command::id); w != waiting_.end()) {
        waiting_bytes_ -= w->what.wire().size();
        waiting_.erase(w);
        --callers_;
        return;
    }
    if (const auto s = std::ranges::find(slots_, id, &slot::id); s != slots_.end()) {
        s->detached = true;
        return;
    }
    std::erase_if(deliveries_, [id](const delivery& d) { return d.id == id; });
}

session_action session::next() {
    if (!deliveries_.empty()) {
        delivery d = std::move(deliveries_.front());
        deliveries_.pop_front();
        return {.kind = action_kind::deliver, .token = d.token, .result = std::move(d.result)};
    }
    if (state_ == state::closed) {
        return {.kind = std::exchange(close_told_, true) ? action_kind::wait : action_kind::close};
    }
    if (std::exchange(connect_wanted_, false)) {
        return {.kind = action_kind::connect};
    }
    if (!writing_ && !output_.empty()) {
        writing_ = true;
        const std::string_view rest = output_.front().bytes().substr(output_offset_);
        const std::string_view part = rest.substr(0, write_limit);
        write_size_ = part.size();
        handed_total_ += part.size();
        return {.kind = action_kind::write, .bytes = part};
    }
    if (!reading_ && (state_ == state::handshake || state_ == state::ready)) {
        reading_ = true;
        return {.kind = action_kind::read};
    }
    return {};
}

void session::written(time_point now) {
    if (state_ == state::closed || !writing_) {
        return;
    }
    writing_ = false;
    // Only the oldest command's own bytes are a sign of life for it: what the kernel still buffers for later ones
    // says nothing about a peer that hangs.
    if (!slots_.empty() && slots_.front().end > written_total_) {
        progress_ = now;
    }
    written_total_ += write_size_;
    output_offset_ += write_size_;
    if (output_offset_ == output_.front().bytes().size()) {
        output_.pop_front();
        output_offset_ = 0;
    }
}

void session::received(std::string_view bytes, time_point now) {
    if (state_ == state::closed || !reading_) {
        return;
    }
    reading_ = false;
    progress_ = now;
    while (!bytes.empty() && state_ != state::closed) {
        if (slots_.empty()) {
            return fail(fault::unexpected_reply);
        }
        parser_.feed(bytes.substr(0, reply_parser::max_slice));
        bytes.remove_prefix(std::min(bytes.size(), reply_parser::max_slice));
        while (state_ != state::closed) {
            std::optional<reply> got = parser_.next();
            if (!got) {
                break;
            }
            settle(std::move(*got), now);
        }
        if (state_ != state::closed && parser_.error() != fault::none) {
            return fail(parser_.error());
        }
    }
    if (state_ != state::closed && slots_.empty() && !parser_.idle()) {
        return fail(fault::unexpected_reply);
    }
    if (retiring_ && slots_.empty()) {
        fail(failure_);
    }
}

void session::settle(reply value, time_point now) {
    if (slots_.empty() || slots_.front().end > handed_total_) {
        return fail(fault::unexpected_reply);  // nothing was asked, or not all of the question was sent
    }
    if (!slots_.front().answers.has(value.type)) {
        return fail(fault::unexpected_reply);
    }
    slot s = slots_.front();
    slots_.pop_front();
    if (s.what == purpose::caller) {
        settle_caller(s, std::move(value));
    } else {
        settle_handshake(s, value, now);
    }
}

void session::settle_caller(slot s, reply value) {
    --callers_;
    session_result result;
    result.why = value.type == reply_type::error ? classify(value.text) : fault::none;
    result.value = std::move(value);
    // The server changed its role, its state or its mind about us: what is in flight is still answered, then a new
    // connection resolves the name again and its PING tells when Redis serves.
    if (result.why == fault::readonly || is_outage(result.why)) {
        retiring_ = true;
        failure_ = result.why;
    }
    if (!s.detached) {
        deliveries_.push_back({s.id, s.token, std::move(result)});
    }
}

void session::settle_handshake(const slot& s, const reply& value, time_point now) {
    const fault why = value.type == reply_type::error ? classify(value.text) : fault::none;
    switch (s.what) {
        case purpose::caller:
            break;
        case purpose::set_name:
            break;  // the name is a help for operators; an ACL may forbid it
        case purpose::auth:
        case purpose::select:
            if (why != fault::none) {
                fail(why == fault::other_error && s.what == purpose::auth ? fault::wrongpass : why);
            }
            break;
        case purpose::ping:
            // Redis that cannot save to disk refuses PING, and goes on answering reads.
            if (why != fault::none && why != fault::misconf) {
                return fail(why);
            }
            if (why == fault::none && value.text != ping_text_) {
                return fail(fault::desync);
            }
            next_ping_ = now + settings_.ping;
            if (state_ == state::handshake) {
                become_ready(now);
            }
            break;
    }
}

void session::become_ready(time_point now) {
    state_ = state::ready;
    progress_ = now;
    waiting_bytes_ = 0;
    for (waiting_command& w : std::exchange(waiting_, {})) {
        send(std::move(w.what), slot{.id = w.id, .token = w.token, .queued = w.queued});
    }
}

void session::lost(fault why) {
    fail(why);
}

void session::tick(time_point now) {
    if (state_ == state::closed || state_ == state::idle) {
        return;
    }
    expire_waiting(now);
    if (state_ == state::connecting) {
        if (now >= started_ + settings_.connect) {
            fail(fault::connect_failed);
        }
        return;
    }
    if (!slots_.empty()) {
        if (now >= in_flight_deadline()) {
            fail(fault::timeout);
        }
        return;
    }
    if (now >= next_ping_) {
        send_ping(now);
    }
}

void session::expire_waiting(time_point now) {
    while (!waiting_.empty() && now >= waiting_.front().queued + settings_.progress) {
        waiting_command& w = waiting_.front();
        waiting_bytes_ -= w.what.wire().size();
        --callers_;
        deliveries_.push_back({w.id, w.token, {.why = fault::timeout}});
        waiting_.pop_front();
    }
}

session::time_point session::in_flight_deadline() const noexcept {
    return std::min(progress_ + settings_.progress, slots_.front().queued + settings_.whole);
}

std::optional<session::time_point> session::deadline() const noexcept {
    if (state_ == state::idle || state_ == state::closed) {
        return std::nullopt;
    }
    const time_point connection = state_ == state::connecting ? started_ + settings_.connect
                                  : slots_.empty()            ? next_ping_
                                                              : in_flight_deadline();
    return waiting_.empty() ? connection : std::min(connection, waiting_.front().queued + settings_.progress);
}

void session::fail(fault why) {
    if (state_ == state::closed) {
        return;
    }
    const bool sent_first = !slots_.empty();
    state_ = state::closed;
    failure_ = why;
    connect_wanted_ = false;
    bool first = true;
    for (const slot& s : std::exchange(slots_, {})) {
        if (s.what == purpose::caller && !s.detached) {
            deliveries_.push_back({s.id, s.token, {.why = why, .collateral = !std::exchange(first, false)}});
        }
    }
    for (const waiting_command& w : std::exchange(waiting_, {})) {
        deliveries_.push_back({w.id, w.token, {.why = why, .collateral = sent_first}});
    }
    callers_ = 0;
    waiting_bytes_ = 0;
}

}  // namespace idem::cache::redis
