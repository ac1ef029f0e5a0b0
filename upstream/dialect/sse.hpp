#pragma once
// Splits a byte stream into server-sent events (WHATWG HTML, section 9.2 "Server-sent events"): lines end in LF, CR or
// CRLF, one leading BOM is skipped, `:` starts a comment, `data` lines join with LF, a blank line ends the event and an
// event without one is not delivered. Sans-I/O, no clock; belongs to one thread. Bounded: a longer line or event ends
// in `overflow`, after which nothing is parsed any more. The result never depends on how the stream was cut into
// pieces.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect {

/// Valid until the next call on the splitter. Behind `data` lie at least `sse_splitter::padding` readable bytes.
struct sse_event {
    std::string_view type;  // "message" unless an `event` field says otherwise
    std::string_view data;
    std::string_view id;                   // last event id, which persists from event to event
    byte_range where;                      // from behind the previous blank line to behind its own
    std::optional<std::uint64_t> data_at;  // where `data` begins in the stream, if it came as one line
};

enum class sse_step : std::uint8_t {
    need_more,  // the input is used up
    event,      // event() is valid; call again with the rest of the input
    overflow,   // a cap was reached; final
};

class sse_splitter {
public:
    static constexpr std::size_t max_line = std::size_t{1} << 20;
    static constexpr std::size_t max_event = std::size_t{4} << 20;
    static constexpr std::size_t padding = 64;

    /// Takes bytes off the front of `in` until an event is whole or `in` is empty.
    [[nodiscard]] sse_step next(std::string_view& in);
    /// End of the stream. An event whose blank line ended in CR waits for a possible LF; here it comes out.
    [[nodiscard]] sse_step finish();
    [[nodiscard]] const sse_event& event() const noexcept { return event_; }
    /// Offset just behind the last blank line.
    [[nodiscard]] std::uint64_t boundary() const noexcept { return block_begin_; }
    /// Whether there is data, or part of a line, that no blank line has ended yet.
    [[nodiscard]] bool unfinished() const noexcept { return !dispatch_due_ && (has_data_ || !line_.empty()); }
    /// Reconnection time in milliseconds, if the stream has set one.
    [[nodiscard]] std::optional<std::uint64_t> retry() const noexcept { return retry_; }

private:
    void take_line(std::string_view line);
    void take_field(std::string_view name, std::string_view value);
    [[nodiscard]] bool dispatch();
    [[nodiscard]] sse_step overflow() noexcept;

    std::string line_;  // the part of a line that earlier pieces brought
    std::string data_;
    std::string type_;
    std::string id_;
    std::optional<std::uint64_t> retry_;
    sse_event event_;
    std::uint64_t offset_ = 0;
    std::uint64_t data_at_ = 0;
    bool one_line_ = false;
    std::uint64_t block_begin_ = 0;
    bool first_line_ = true;
    bool has_data_ = false;
    bool after_cr_ = false;      // the last byte taken was a CR: a LF would belong to it
    bool dispatch_due_ = false;  // the blank line ended in that CR
    bool reported_ = false;      // event_ views data_ and type_; clear them on the next call
    bool overflow_ = false;
};

}  // namespace idem::upstream::dialect
