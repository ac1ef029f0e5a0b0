#include "upstream/http/body_decoder.hpp"

#include <algorithm>

#include "upstream/base/hex.hpp"
#include "upstream/http/characters.hpp"

namespace idem::upstream::http {
namespace {

constexpr std::uint32_t max_size_digits = 16;

}  // namespace

void body_decoder::start(body_framing framing, std::uint64_t length) noexcept {
    left_ = length;
    counted_ = 0;
    wrong_ = nullptr;
    switch (framing) {
        case body_framing::none:
            state_ = state::done;
            break;
        case body_framing::length:
            state_ = length > 0 ? state::counted : state::done;
            break;
        case body_framing::chunked:
            state_ = state::size_first;
            break;
        case body_framing::close_delimited:
            state_ = state::until_close;
            break;
    }
}

parsed body_decoder::next(std::string_view in, const parse_limits& limits, reason malformed) noexcept {
    std::size_t at = 0;
    for (;;) {
        if (state_ == state::done) return {parse_event::complete, at, {}, reason::none, {}};
        if (state_ == state::broken) return {parse_event::error, at, {}, malformed, wrong_};
        if (at == in.size()) return {parse_event::need_more, at, {}, reason::none, {}};
        if (state_ == state::until_close) return {parse_event::body, in.size(), in.substr(at), reason::none, {}};
        if (state_ == state::counted || state_ == state::data) {
            const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size() - at));
            left_ -= n;
            if (left_ == 0) state_ = state_ == state::counted ? state::done : state::data_cr;
            return {parse_event::body, at + n, in.substr(at, n), reason::none, {}};
        }
        if (const char* wrong = step(in[at++], limits)) {
            wrong_ = wrong;
            state_ = state::broken;
        }
    }
}

const char* body_decoder::trailer_byte(bool well_formed, const parse_limits& limits) noexcept {
    if (!well_formed) return "a trailer is malformed";
    return ++counted_ > limits.trailer_bytes ? "the trailers are too large" : nullptr;
}

const char* body_decoder::step(char c, const parse_limits& limits) noexcept {
    switch (state_) {
        case state::size_first:
            if (hex_value(c) < 0) return "a chunk does not begin with its size";
            left_ = static_cast<std::uint64_t>(hex_value(c));
            counted_ = 1;
            state_ = state::size_rest;
            return nullptr;
        case state::size_rest:
            if (hex_value(c) >= 0) {
                if (++counted_ > max_size_digits) return "a chunk size is too large";
                left_ = left_ * 16 + static_cast<std::uint64_t>(hex_value(c));
                return nullptr;
            }
            counted_ = 0;
            if (c == '\r') {
                state_ = state::size_lf;
            } else if (c == ';') {
                state_ = state::extension;
            } else {
                return "a chunk size is malformed";
            }
            return nullptr;
        case state::extension:
            if (c == '\r') {
                state_ = state::size_lf;
                return nullptr;
            }
            if (is_control(c)) return "a chunk extension is malformed";
            if (++counted_ > limits.chunk_extension_bytes) return "a chunk extension is too long";
            return nullptr;
        case state::size_lf:
            if (c != '\n') return "a chunk line is not ended by CRLF";
            counted_ = 0;
            state_ = left_ > 0 ? state::data : state::trailer_start;
            return nullptr;
        case state::data_cr:
            if (c != '\r') return "a chunk is longer than its size";
            state_ = state::data_lf;
            return nullptr;
        case state::data_lf:
            if (c != '\n') return "a chunk is not ended by CRLF";
            state_ = state::size_first;
            return nullptr;
        case state::trailer_start:
            if (c == '\r') {
                state_ = state::last_lf;
                return nullptr;
            }
            state_ = state::trailer_name;
            return trailer_byte(is_token_character(c), limits);
        case state::trailer_name:
            if (c == ':') state_ = state::trailer_value;
            return trailer_byte(c == ':' || is_token_character(c), limits);
        case state::trailer_value:
            if (c == '\r') state_ = state::trailer_lf;
            return trailer_byte(c == '\r' || !is_control(c), limits);
        case state::trailer_lf:
            state_ = state::trailer_start;
            return trailer_byte(c == '\n', limits);
        case state::last_lf:
            if (c != '\n') return "the body is not ended by CRLF";
            state_ = state::done;
            return nullptr;
        case state::done:
        case state::counted:
        case state::until_close:
        case state::data:
        case state::broken:
            break;
    }
    return "unreachable";
}

}  // namespace idem::upstream::http
