#include "gateway/observe/access_line.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "upstream/base/words.hpp"

namespace idem::gateway::observe {

namespace {

// What a caller chose is cut early, so that nobody fills a disk, or hides a prompt, by naming a model.
constexpr std::size_t method_cap = 32, path_cap = 256, model_cap = 128;
constexpr std::size_t text_cap = 256;  // of our own words and of names in the configuration

template <class T>
void append_number(std::string& out, T n) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr;
    out.append(digits.data(), end);
}

// Microseconds as milliseconds with three digits behind the point.
void append_ms(std::string& out, std::uint32_t us) {
    append_number(out, us / 1000);
    const auto rest = us % 1000;
    const char digits[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
    out.append(digits, 4);
}

// Length of the UTF-8 sequence at the front (RFC 3629), 0 if it is broken.
std::size_t sequence(std::string_view s) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    const auto tail = [&](std::size_t i) { return i < s.size() && (at(i) & 0xC0) == 0x80; };
    const unsigned char first = at(0);
    if (first < 0xC2) return 0;
    if (first < 0xE0) return tail(1) ? 2 : 0;
    if (first < 0xF0) {
        if (!tail(1) || !tail(2)) return 0;
        const bool overlong = first == 0xE0 && at(1) < 0xA0;
        const bool surrogate = first == 0xED && at(1) >= 0xA0;
        return overlong || surrogate ? 0 : 3;
    }
    if (first > 0xF4 || !tail(1) || !tail(2) || !tail(3)) return 0;
    const bool outside = (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) >= 0x90);
    return outside ? 0 : 4;
}

bool plain(unsigned char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

bool all_plain(std::string_view text) {
    return !words::any(text, [](std::uint64_t word) {
        return words::below(word, 0x20) | words::beyond_ascii(word) | words::equal(word, 0x7F) |
               words::equal(word, '"') | words::equal(word, '\\');
    });
}

void append_escaped(std::string& out, std::string_view text) {
    if (all_plain(text)) {
        out.append(text);
        return;
    }
    while (!text.empty()) {
        std::size_t run = 0;
        while (run < text.size() && plain(static_cast<unsigned char>(text[run]))) ++run;
        out.append(text.substr(0, run));
        text.remove_prefix(run);
        if (text.empty()) return;
        const auto c = static_cast<unsigned char>(text[0]);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += text[0];
            text.remove_prefix(1);
        } else if (c < 0x20 || c == 0x7F) {
            std::array<char, 7> hex{};
            std::snprintf(hex.data(), hex.size(), "\\u%04x", c);
            out.append(hex.data(), 6);
            text.remove_prefix(1);
        } else if (const auto n = sequence(text); n > 0) {
            out.append(text.substr(0, n));
            text.remove_prefix(n);
        } else {
            out += "\\ufffd";
            text.remove_prefix(1);
        }
    }
}

void text_field(std::string& out, std::string_view name, std::string_view text, std::size_t cap = text_cap) {
    if (text.empty()) return;
    out.append(name);
    append_json_text(out, text, cap);
}

template <class T>
void number_field(std::string& out, std::string_view name, T n) {
    out.append(name);
    append_number(out, n);
}

}  // namespace

void append_json_text(std::string& out, std::string_view text, std::size_t cap) {
    if (text.size() > cap) {
        // Not inside a character: step back over continuation bytes, of which a character has at most three.
        std::size_t end = cap;
        while (end > 0 && cap - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
        text = text.substr(0, end);
    }
    out += '"';
    append_escaped(out, text);
    out += '"';
}

void append_time(std::string& out, std::int64_t unix_us, clock_text& clock) {
    const auto second = unix_us / 1'000'000;
    if (second != clock.second) {
        using namespace std::chrono;
        const sys_seconds t{seconds(second)};
        const auto day = floor<days>(t);
        const year_month_day date{day};
        const hh_mm_ss time{t - day};
        std::snprintf(clock.text, sizeof clock.text, "%04d-%02u-%02uT%02u:%02u:%02u",
                      static_cast<int>(date.year()) % 10000, static_cast<unsigned>(date.month()) % 100,
                      static_cast<unsigned>(date.day()) % 100, static_cast<unsigned>(time.hours().count()) % 100,
                      static_cast<unsigned>(time.minutes().count()) % 100,
                      static_cast<unsigned>(time.seconds().count()) % 100);
        clock.second = second;
    }
    out.append(clock.text, 19);
    const auto ms = static_cast<unsigned>(unix_us % 1'000'000 / 1000);
    const char rest[] = {'.', static_cast<char>('0' + ms / 100), static_cast<char>('0' + ms / 10 % 10),
                         static_cast<char>('0' + ms % 10), 'Z'};
    out.append(rest, 5);
}

void append_access_line(std::string& out, const access_record& r, clock_text& clock) {
    out += "{\"ts\":\"";
    append_time(out, r.unix_us, clock);
    out += "\",\"level\":\"info\",\"msg\":\"access\"";
    text_field(out, ",\"request_id\":", r.request_id);
    text_field(out, ",\"client\":", r.client);
    text_field(out, ",\"method\":", r.method, method_cap);
    text_field(out, ",\"path\":", r.path, path_cap);
    text_field(out, ",\"api\":", r.dialect);
    text_field(out, ",\"model\":", r.model, model_cap);
    text_field(out, ",\"route\":", r.route);
    text_field(out, ",\"policy\":", r.policy);
    number_field(out, ",\"status\":", r.status);
    out += r.stream ? ",\"stream\":true" : ",\"stream\":false";

    out += ",\"cache\":{\"status\":\"";
    out += to_string(r.what);
    out += '"';
    text_field(out, ",\"tier\":", r.tier);
    text_field(out, ",\"key\":", r.key_hex);
    if (r.age_s >= 0) number_field(out, ",\"age_s\":", r.age_s);
    text_field(out, ",\"reason\":", to_string(r.why));

    number_field(out, "},\"bytes_in\":", r.bytes_in);
    number_field(out, ",\"bytes_out\":", r.bytes_out);
    out += ",\"duration_ms\":";
    append_ms(out, r.duration_us);
    out += ",\"ttfb_ms\":";
    append_ms(out, r.ttfb_us);

    out += ",\"upstream\":{\"name\":";
    append_json_text(out, r.upstream, text_cap);
    text_field(out, ",\"replica\":", r.replica);
    if (r.upstream_status != 0) number_field(out, ",\"status\":", r.upstream_status);
    if (r.upstream_status != 0 || r.upstream_ms != 0) number_field(out, ",\"ms\":", r.upstream_ms);
    if (r.retries != 0) number_field(out, ",\"retries\":", r.retries);
    number_field(out, "},\"usage\":{\"in\":", r.tokens_in);
    number_field(out, ",\"out\":", r.tokens_out);
    out += r.aborted ? "},\"aborted\":true}\n" : "},\"aborted\":false}\n";
}

}  // namespace idem::gateway::observe
