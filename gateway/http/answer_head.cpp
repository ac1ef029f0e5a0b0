#include "gateway/http/answer_head.hpp"

#include <array>
#include <charconv>
#include <ctime>

namespace idem::gateway::http {
namespace {

bool bodiless(unsigned status) noexcept {
    return status < 200 || status == 204 || status == 304;
}

/// IMF-fixdate (RFC 9110 section 5.6.7); strftime would ask the locale.
void append_date(std::string& out, std::time_t t) {
    static constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm u{};
    gmtime_r(&t, &u);
    const auto two = [&out](int n) {
        out += static_cast<char>('0' + n / 10 % 10);
        out += static_cast<char>('0' + n % 10);
    };
    out.append(days[static_cast<std::size_t>(u.tm_wday)]).append(", ");
    two(u.tm_mday);
    out.append(" ").append(months[static_cast<std::size_t>(u.tm_mon)]).append(" ");
    two((u.tm_year + 1900) / 100);
    two(u.tm_year % 100);
    out += ' ';
    two(u.tm_hour);
    out += ':';
    two(u.tm_min);
    out += ':';
    two(u.tm_sec);
    out += " GMT";
}

void append_length(std::string& head, std::uint64_t length) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), length).ptr;
    head.append("Content-Length: ").append(digits.data(), end).append("\r\n");
}

}  // namespace

head_fields::head_fields(net::duration keep_alive)
    : connection_("Connection: keep-alive\r\nKeep-Alive: timeout=" +
                  std::to_string(std::chrono::duration_cast<std::chrono::seconds>(keep_alive).count()) + "\r\n") {}

std::string_view head_fields::of(afterwards what, net::time_point now) {
    if (now >= fresh_until_) refresh(now);
    switch (what) {
        case afterwards::keep_alive:
            return keep_;
        case afterwards::close:
            return close_;
        case afterwards::upgrade:
            return upgrade_;
    }
    return close_;
}

void head_fields::refresh(net::time_point now) {
    using namespace std::chrono;
    const auto wall = system_clock::now();
    const auto second = floor<seconds>(wall);
    fresh_until_ = now + duration_cast<net::duration>(second + seconds(1) - wall);
    std::string date = "Date: ";
    append_date(date, system_clock::to_time_t(second));
    date += "\r\n";
    keep_ = date + connection_;
    close_ = date + "Connection: close\r\n";
    upgrade_ = date + "Connection: Upgrade\r\n";
}

unsigned status_in(std::string_view head) noexcept {
    unsigned status = 0;
    if (head.size() < 12) return 0;
    const auto r = std::from_chars(head.data() + 9, head.data() + 12, status);
    return r.ec == std::errc{} ? status : 0;
}

answer_framing frame_answer(unsigned status, bool to_head, unsigned version, bool keep_alive, body_framing wanted,
                            std::uint64_t length) noexcept {
    answer_framing how{wanted, length, keep_alive};
    if (to_head || bodiless(status) || wanted == body_framing::none) {
        how.framing = body_framing::none;
    } else if (wanted != body_framing::length) {
        how.framing = version >= 11 ? body_framing::chunked : body_framing::close_delimited;
        if (version < 11) how.keep_alive = false;
    }
    return how;
}

void finish_head(std::string& head, unsigned status, const answer_framing& how, body_framing wanted,
                 std::uint64_t length, std::string_view fields) {
    if (how.framing == body_framing::chunked) {
        head.append("Transfer-Encoding: chunked\r\n");
    } else if (!bodiless(status) && wanted == body_framing::length) {
        append_length(head, length);
    } else if (!bodiless(status) && wanted == body_framing::none) {
        append_length(head, 0);
    }
    head.append(fields).append("\r\n");
}

}  // namespace idem::gateway::http
