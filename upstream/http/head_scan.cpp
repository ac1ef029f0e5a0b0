#include "upstream/http/head_scan.hpp"

#include <algorithm>
#include <cstring>

namespace idem::upstream::http {
namespace {

// "METHOD SP … SP HTTP/1.1 CRLF" around the target; methods longer than this do not exist.
constexpr std::size_t around_target = 32 + 12;

}  // namespace

head_scan::state head_scan::refuse(reason why, std::string_view detail) noexcept {
    why_ = why;
    detail_ = detail;
    return state::bad;
}

head_scan::state head_scan::feed(std::string_view in, const parse_limits& limits) noexcept {
    if (why_ != reason::none) return state::bad;
    if (!started_) {
        if (in.size() <= begin_) return state::more;
        // One empty line before a request line is ignored (RFC 9112 section 2.2).
        if (request_ && begin_ == 0 && in[0] == '\r') {
            if (in.size() == 1) return state::more;
            if (in[1] != '\n') return refuse(reason::bad_request, "a CR stands alone");
            begin_ = line_ = seen_ = 2;
            if (in.size() == 2) return state::more;
        }
        // A method or "HTTP": a TLS handshake on a plain port ends here and not at the deadline.
        const char c = in[begin_];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) {
            return refuse(reason::bad_request, "the start line does not begin with a letter");
        }
        started_ = true;
    }
    const std::size_t cap = begin_ + limits.head_bytes;
    const std::size_t usable = std::min(in.size(), cap);
    while (line_ < usable) {
        if (lines_ > 0 && (in[line_] == ' ' || in[line_] == '\t')) {
            return refuse(reason::bad_request, "a field line is folded");
        }
        const std::size_t line_cap = lines_ == 0 && request_ ? begin_ + limits.target_bytes + around_target : cap;
        const std::size_t until = std::min(usable, line_cap);
        const void* lf = seen_ < until ? std::memchr(in.data() + seen_, '\n', until - seen_) : nullptr;
        if (lf == nullptr) {
            seen_ = until;
            if (until == line_cap && line_cap < cap)
                return refuse(reason::uri_too_long, "the request line is too long");
            break;
        }
        const std::size_t at = static_cast<std::size_t>(static_cast<const char*>(lf) - in.data());
        if (at == line_ || in[at - 1] != '\r') return refuse(reason::bad_request, "a line ends without CR");
        const bool blank = at == line_ + 1;
        line_ = seen_ = at + 1;
        if (blank) return state::found;
        if (++lines_ > limits.head_fields + 1) return refuse(reason::header_too_large, "too many field lines");
    }
    if (in.size() >= cap) return refuse(reason::header_too_large, "the head is too large");
    return state::more;
}

}  // namespace idem::upstream::http
