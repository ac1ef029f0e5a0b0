#pragma once
// Finds the end of a message head without understanding it, and refuses on sight what Beast 1.81 would let through or
// wait for: lines ended by LF alone, folded lines (RFC 9112 sections 2.2 and 5.2), too many or too long lines. What it
// finds does not depend on how the bytes were split. Pure; one object a connection.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "upstream/http/message.hpp"

namespace idem::upstream::http {

class head_scan {
public:
    enum class state : std::uint8_t { more, found, bad };

    explicit head_scan(bool request) noexcept : request_(request) {}
    /// `in` starts at the first byte of the message and grows from call to call.
    [[nodiscard]] state feed(std::string_view in, const parse_limits& limits) noexcept;
    /// Where the head begins (after a tolerated empty line) and its size with the final empty line; after `found`.
    [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t end() const noexcept { return line_; }
    /// After `bad`.
    [[nodiscard]] reason why() const noexcept { return why_; }
    [[nodiscard]] std::string_view detail() const noexcept { return detail_; }
    void reset() noexcept { *this = head_scan(request_); }

private:
    [[nodiscard]] state refuse(reason why, std::string_view detail) noexcept;

    bool request_;
    bool started_ = false;  // a byte of the start line was seen
    std::size_t begin_ = 0;
    std::size_t line_ = 0;     // first byte of the line being looked at
    std::size_t seen_ = 0;     // bytes already searched for a line end
    std::uint32_t lines_ = 0;  // complete lines, the start line included
    reason why_ = reason::none;
    std::string_view detail_;
};

}  // namespace idem::upstream::http
