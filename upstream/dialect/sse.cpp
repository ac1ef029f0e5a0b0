#include "upstream/dialect/sse.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace idem::upstream::dialect {
namespace {

std::size_t find_line_end(std::string_view in) noexcept {
    const void* lf = std::memchr(in.data(), '\n', in.size());
    const std::size_t limit = lf ? static_cast<std::size_t>(static_cast<const char*>(lf) - in.data()) : in.size();
    const void* cr = std::memchr(in.data(), '\r', limit);
    if (cr) return static_cast<std::size_t>(static_cast<const char*>(cr) - in.data());
    return lf ? limit : std::string_view::npos;
}

}  // namespace

sse_step sse_splitter::next(std::string_view& in) {
    if (overflow_) return sse_step::overflow;
    if (reported_) {
        data_.clear();
        type_.clear();
        reported_ = false;
    }
    while (!in.empty()) {
        if (after_cr_) {
            after_cr_ = false;
            if (in.front() == '\n') {
                in.remove_prefix(1);
                ++offset_;
            }
            if (dispatch_due_ && dispatch()) return sse_step::event;
            continue;
        }
        const std::size_t end = find_line_end(in);
        const std::size_t piece = std::min(end, in.size());
        if (line_.size() + piece > max_line) return overflow();
        if (end == std::string_view::npos) {
            line_.append(in);
            offset_ += in.size();
            in = {};
            return sse_step::need_more;
        }
        std::string_view line = in.substr(0, end);
        after_cr_ = in[end] == '\r';
        in.remove_prefix(end + 1);
        offset_ += end + 1;
        if (!line_.empty()) {
            line_.append(line);
            line = line_;
        }
        if (first_line_ && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
        first_line_ = false;
        if (line.empty()) {
            dispatch_due_ = true;
        } else {
            take_line(line);
        }
        line_.clear();
        if (overflow_) return sse_step::overflow;
        if (dispatch_due_ && !after_cr_ && dispatch()) return sse_step::event;
    }
    return sse_step::need_more;
}

sse_step sse_splitter::finish() {
    if (overflow_) return sse_step::overflow;
    if (dispatch_due_ && dispatch()) return sse_step::event;
    return sse_step::need_more;
}

void sse_splitter::take_line(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == 0) return;
    std::string_view value;
    if (colon != std::string_view::npos) {
        value = line.substr(colon + 1);
        if (value.starts_with(' ')) value.remove_prefix(1);
    }
    take_field(line.substr(0, colon), value);
}

void sse_splitter::take_field(std::string_view name, std::string_view value) {
    if (name == "data") {
        if (data_.size() + value.size() + 1 > max_event) {
            overflow_ = true;
            return;
        }
        if (has_data_) data_ += '\n';
        one_line_ = !has_data_;
        data_at_ = offset_ - 1 - value.size();  // behind the line's end
        data_ += value;
        has_data_ = true;
    } else if (name == "event") {
        type_ = value;
    } else if (name == "id") {
        if (value.find('\0') == std::string_view::npos) id_ = value;
    } else if (name == "retry") {
        std::uint64_t ms = 0;
        const auto [rest, ec] = std::from_chars(value.data(), value.data() + value.size(), ms);
        if (ec == std::errc{} && rest == value.data() + value.size()) retry_ = ms;
    }
}

bool sse_splitter::dispatch() {
    dispatch_due_ = false;
    const std::uint64_t begin = block_begin_;
    block_begin_ = offset_;
    if (!has_data_) {
        type_.clear();
        return false;
    }
    has_data_ = false;
    reported_ = true;
    data_.reserve(data_.size() + padding);
    event_.type = type_.empty() ? std::string_view("message") : std::string_view(type_);
    event_.data = data_;
    event_.id = id_;
    event_.where = {begin, offset_ - begin};
    event_.data_at.reset();
    if (one_line_) event_.data_at = data_at_;
    return true;
}

sse_step sse_splitter::overflow() noexcept {
    overflow_ = true;
    return sse_step::overflow;
}

}  // namespace idem::upstream::dialect
