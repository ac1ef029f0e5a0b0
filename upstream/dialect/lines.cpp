#include "upstream/dialect/lines.hpp"

#include <algorithm>
#include <utility>

#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect {

line_step line_splitter::next(std::string_view& in) {
    while (!overflow_ && !in.empty()) {
        if (std::exchange(reported_, false)) line_.clear();
        const std::size_t end = in.find('\n');
        const std::size_t piece = std::min(end, in.size());
        if (piece > max_line - line_.size()) {
            overflow_ = true;
            break;
        }
        line_.append(in.substr(0, piece));
        const std::size_t taken = end == std::string_view::npos ? piece : piece + 1;
        in.remove_prefix(taken);
        offset_ += taken;
        if (end == std::string_view::npos) return line_step::need_more;
        boundary_ = offset_;
        if (ready()) return line_step::line;
    }
    return overflow_ ? line_step::overflow : line_step::need_more;
}

line_step line_splitter::finish() {
    if (overflow_) return line_step::overflow;
    if (std::exchange(reported_, false)) line_.clear();
    return ready() ? line_step::line : line_step::need_more;
}

bool line_splitter::ready() {
    reported_ = true;
    if (trim(line_).empty()) return false;
    line_.reserve(line_.size() + padding);
    return true;
}

}  // namespace idem::upstream::dialect
