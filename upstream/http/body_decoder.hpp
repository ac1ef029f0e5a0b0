#pragma once
// Takes a message body off its framing. Strict where lenient readers disagree (RFC 9112 section 7.1): lines end with
// CRLF, sizes are at most 16 hexadecimal digits, extensions and trailers are capped, checked for form and thrown away.
// Works on any split of the input and keeps no bytes. Pure; one object a connection.
#include <cstdint>
#include <string_view>

#include "upstream/http/head_grammar.hpp"

namespace idem::upstream::http {

class body_decoder {
public:
    void start(body_framing framing, std::uint64_t length) noexcept;
    /// body, complete, need_more or error; `malformed` is the reason for broken framing.
    [[nodiscard]] parsed next(std::string_view in, const parse_limits& limits, reason malformed) noexcept;
    [[nodiscard]] bool complete() const noexcept { return state_ == state::done; }

private:
    enum class state : std::uint8_t {
        done,
        counted,  // Content-Length: left_ bytes to come
        until_close,
        size_first,  // first digit of a chunk size
        size_rest,
        extension,
        size_lf,  // LF of the chunk line
        data,     // left_ bytes of a chunk to come
        data_cr,
        data_lf,
        trailer_start,  // first byte of a trailer line, or CR of the last line
        trailer_name,
        trailer_value,
        trailer_lf,
        last_lf,
        broken,
    };
    /// One byte of chunk framing; null if all is well.
    [[nodiscard]] const char* step(char c, const parse_limits& limits) noexcept;
    [[nodiscard]] const char* trailer_byte(bool well_formed, const parse_limits& limits) noexcept;

    state state_ = state::done;
    std::uint64_t left_ = 0;
    std::uint32_t counted_ = 0;  // digits of the size, bytes of the extension, bytes of all trailers
    const char* wrong_ = nullptr;
};

}  // namespace idem::upstream::http
