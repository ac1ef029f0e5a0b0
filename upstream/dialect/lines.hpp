#pragma once
// Splits a byte stream into the lines of newline-delimited JSON (application/x-ndjson): LF or CRLF ends a line, lines
// of nothing but white space are skipped. Sans-I/O, no clock; belongs to one thread. Bounded: a longer line ends in
// `overflow`, after which nothing is looked at any more. The result never depends on how the stream was cut.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace idem::upstream::dialect {

enum class line_step : std::uint8_t {
    need_more,  // the input is used up
    line,       // line() is valid; call again with the rest of the input
    overflow,   // the cap was reached; final
};

class line_splitter {
public:
    static constexpr std::size_t max_line = std::size_t{4} << 20;
    static constexpr std::size_t padding = 64;

    /// Takes bytes off the front of `in` until a line is whole or `in` is empty.
    [[nodiscard]] line_step next(std::string_view& in);
    /// End of the stream: what no line break has ended comes out as the last line.
    [[nodiscard]] line_step finish();
    /// Valid until the next call; behind it lie at least `padding` readable bytes.
    [[nodiscard]] std::string_view line() const noexcept { return line_; }
    /// Offset just behind the last line break.
    [[nodiscard]] std::uint64_t boundary() const noexcept { return boundary_; }

private:
    [[nodiscard]] bool ready();
    std::string line_;
    std::uint64_t offset_ = 0;
    std::uint64_t boundary_ = 0;
    bool reported_ = false;  // line_ was given out; clear it on the next call
    bool overflow_ = false;
};

}  // namespace idem::upstream::dialect
