// The state record as text. A line that is not understood makes the whole unreadable: a newer gateway may live by it.
#include <algorithm>
#include <charconv>
#include <span>

#include "cache/state/state_record.hpp"
#include "upstream/base/hex.hpp"

namespace idem::cache {

namespace {

constexpr std::string_view format = "idem-state 1";

std::string hex_of(std::uint64_t n) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out(16, '0');
    for (std::size_t i = 16; i-- > 0; n >>= 4) out[i] = digits[n & 15];
    return out;
}

// One word whatever is in it: space, '%', controls and what is not ASCII as in URLs; nothing at all as "%".
std::string word_of(std::string_view text) {
    if (text.empty()) return "%";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (byte > 0x20 && byte < 0x7f && c != '%')
            out += c;
        else
            out += "%" + to_hex(std::span<const std::uint8_t>(&byte, 1));
    }
    return out;
}

std::optional<std::string> text_of(std::string_view word) {
    if (word == "%") return std::string();
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] != '%') {
            out += word[i];
            continue;
        }
        if (i + 2 >= word.size()) return std::nullopt;
        const int high = hex_value(word[i + 1]), low = hex_value(word[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

class words {
public:
    explicit words(std::string_view line) : rest_(line) {}
    std::string_view next() {
        const auto end = rest_.find(' ');
        const std::string_view word = rest_.substr(0, end);
        ended_ = end == std::string_view::npos;
        rest_ = ended_ ? std::string_view() : rest_.substr(end + 1);
        return word;
    }
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    bool number(std::uint64_t& into, int base = 10) {
        const std::string_view word = next();
        const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), into, base);
        return ec == std::errc() && end == word.data() + word.size() && (base == 10 || word.size() == 16);
    }
    bool time(unix_ms& into) {
        std::uint64_t n = 0;
        const bool good = number(n) && n <= static_cast<std::uint64_t>(INT64_MAX);
        into = static_cast<unix_ms>(n);
        return good;
    }
    bool text(std::string& into) {
        auto t = text_of(next());
        if (t) into = std::move(*t);
        return t.has_value();
    }
    bool id(id128& into) {
        const auto id = id128_from_hex(next());
        if (id) into = *id;
        return id.has_value();
    }
    bool hash(digest& into) {
        const auto d = digest_from_hex(next());
        if (d) into = *d;
        return d.has_value();
    }

private:
    std::string_view rest_;
    bool ended_ = false;
};

void append_ids(std::string& out, std::string_view name, const std::vector<std::uint64_t>& ids) {
    if (ids.empty()) return;
    out += name;
    for (const std::uint64_t id : ids) out += " " + hex_of(id);
    out += "\n";
}

bool read_ids(words& w, std::vector<std::uint64_t>& into, std::size_t most) {
    while (!w.ended()) {
        if (into.size() == most || !w.number(into.emplace_back(), 16)) return false;
    }
    return true;
}

bool read_upstream(words& w, state_record& r) {
    upstream_epochs u;
    if (!w.text(u.name) || !w.id(u.current)) return false;
    const std::string_view how = w.next();
    u.by_hand = how == "by-hand";
    if (!u.by_hand && how != "opened") return false;
    r.upstreams.push_back(std::move(u));
    return true;
}

bool read_epoch(words& w, state_record& r) {
    if (r.upstreams.empty()) return false;
    known_epoch e;
    if (!w.id(e.what.id) || !w.hash(e.what.environment) || !w.time(e.opened) || !w.text(e.why)) return false;
    r.upstreams.back().epochs.push_back(std::move(e));
    return true;
}

bool read_ban(words& w, state_record& r) {
    ban b;
    const std::string_view what = w.next();
    b.erase = what == "erase";
    const auto kind = ban_kind_from(w.next());
    if ((!b.erase && what != "purge") || !kind || !w.number(b.at) || !w.time(b.when) || !w.text(b.value)) return false;
    b.kind = *kind;
    r.bans.push_back(std::move(b));
    return true;
}

bool read_line(std::string_view line, state_record& r) {
    words w(line);
    const std::string_view what = w.next();
    bool good = false;
    if (what == "secret")
        good = w.hash(r.secret.emplace());
    else if (what == "horizon")
        good = w.number(r.horizon);
    else if (what == "ancestors")
        good = read_ids(w, r.ancestors, most_ancestors);
    else if (what == "recent")
        good = read_ids(w, r.recent, most_recent);
    else if (what == "upstream")
        good = read_upstream(w, r);
    else if (what == "epoch")
        good = read_epoch(w, r);
    else if (what == "ban")
        good = read_ban(w, r);
    return good && w.ended();
}

}  // namespace

std::string encode(const state_record& r) {
    std::string out(format);
    out += " " + hex_of(r.lineage) + " " + std::to_string(r.sequence) + "\n";
    if (r.secret) out += "secret " + to_hex(r.secret->bytes) + "\n";
    if (r.horizon > 0) out += "horizon " + std::to_string(r.horizon) + "\n";
    append_ids(out, "ancestors", r.ancestors);
    append_ids(out, "recent", r.recent);
    for (const upstream_epochs& u : r.upstreams) {
        out += "upstream " + word_of(u.name) + " " + to_hex(u.current.bytes) + (u.by_hand ? " by-hand\n" : " opened\n");
        for (const known_epoch& e : u.epochs)
            out += "epoch " + to_hex(e.what.id.bytes) + " " + to_hex(e.what.environment.bytes) + " " +
                   std::to_string(e.opened) + " " + word_of(e.why) + "\n";
    }
    for (const ban& b : r.bans)
        out += std::string("ban ") + (b.erase ? "erase " : "purge ") + std::string(to_string(b.kind)) + " " +
               std::to_string(b.at) + " " + std::to_string(b.when) + " " + word_of(b.value) + "\n";
    return out;
}

std::optional<state_record> decode_state(std::string_view text) {
    state_record r;
    for (bool first = true; !text.empty(); first = false) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (!first && !read_line(line, r)) return std::nullopt;
        if (!first) continue;
        if (!line.starts_with(format) || line.size() <= format.size() || line[format.size()] != ' ')
            return std::nullopt;
        words w(line.substr(format.size() + 1));
        if (!w.number(r.lineage, 16) || !w.number(r.sequence) || !w.ended()) return std::nullopt;
    }
    const bool whole = r.sequence > 0 && !r.recent.empty() && r.recent.size() <= r.sequence;
    const bool named = std::ranges::all_of(r.upstreams, [](const upstream_epochs& u) { return u.find(u.current); });
    if (!whole || !named) return std::nullopt;
    return r;
}

}  // namespace idem::cache
