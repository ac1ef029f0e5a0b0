#include "cache/ledger/record.hpp"

#include <array>
#include <charconv>

namespace idem::cache {

namespace determinism = upstream::determinism;

bool ledger_record::same_kind(const ledger_record& o) const noexcept {
    return request == o.request && upstream == o.upstream && epoch == o.epoch && output == o.output &&
           environment == o.environment && promise.what == o.promise.what && promise.how == o.promise.how &&
           sampled == o.sampled;
}

const ledger_record* counterpart(std::span<const ledger_record> known, const ledger_record& fill) {
    const ledger_record* best = nullptr;
    int best_rank = -1;
    for (const ledger_record& r : known) {
        if (r.request != fill.request || r.upstream != fill.upstream) continue;
        int rank = r.environment == fill.environment ? 2 : 0;
        const bool both = r.promise.what != determinism::level::none && fill.promise.what != determinism::level::none;
        if (rank == 2 && both) rank = 3;
        if (rank > best_rank || (rank == best_rank && r.last > best->last)) {
            best = &r;
            best_rank = rank;
        }
    }
    return best;
}

determinism::contrast contrast_with(std::span<const ledger_record> known, const ledger_record& fill) {
    const ledger_record* other = counterpart(known, fill);
    return other ? contrast_of(other->seen(), fill.seen()) : determinism::contrast::same;
}

namespace {

constexpr std::array levels{determinism::level::none, determinism::level::replica, determinism::level::sibling_class};
constexpr std::array isolations{determinism::isolation::none, determinism::isolation::serial,
                                determinism::isolation::batch_invariant};

// Names come from a configuration, which allows more than a line of words does.
std::string escaped(std::string_view name) {
    std::string out;
    for (const char c : name) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (byte > 0x20 && byte != '%' && byte != 0x7f) {
            out += c;
            continue;
        }
        out += '%';
        out += to_hex(std::span(&byte, 1));
    }
    return out;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const std::string_view digits = text.substr(i + 1, 2);
        unsigned byte = 0;
        const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || ec != std::errc{} || end != digits.data() + 2) return std::nullopt;
        out += static_cast<char>(byte);
        i += 2;
    }
    return out;
}

class words {
public:
    explicit words(std::string_view text) : rest_(text) {}
    [[nodiscard]] std::string_view next() {
        const auto end = rest_.find(' ');
        const std::string_view word = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        return word;
    }

private:
    std::string_view rest_;
};

template <class Number>
bool read(std::string_view word, Number& into) {
    const auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), into);
    return !word.empty() && ec == std::errc{} && end == word.data() + word.size();
}

template <class Choices, class Value>
bool choose(std::string_view word, const Choices& from, Value& into) {
    for (const Value v : from) {
        if (to_string(v) != word) continue;
        into = v;
        return true;
    }
    return false;
}

}  // namespace

std::string ledger_kind(const ledger_record& r) {
    std::string out = to_hex(r.epoch.bytes);
    out.append(" ").append(to_hex(r.output.bytes)).append(" ").append(to_hex(r.environment.bytes)).append(" ");
    out.append(to_string(r.promise.what)).append(" ").append(to_string(r.promise.how));
    out.append(r.sampled ? " s " : " r ").append(escaped(r.upstream)).append(" ");
    return out;
}

std::string encode_ledger_line(const ledger_record& r) {
    return ledger_kind(r) + std::to_string(r.first) + " " + std::to_string(r.last) + " " + std::to_string(r.fills) +
           " " + std::to_string(r.promise.runs);
}

std::optional<ledger_record> decode_ledger_line(const digest& request, std::string_view line) {
    words w(line);
    ledger_record r;
    r.request = request;
    const auto epoch = id128_from_hex(w.next());
    const auto output = digest_from_hex(w.next());
    const auto environment = digest_from_hex(w.next());
    if (!epoch || !output || !environment) return std::nullopt;
    r.epoch = *epoch;
    r.output = *output;
    r.environment = *environment;
    if (!choose(w.next(), levels, r.promise.what) || !choose(w.next(), isolations, r.promise.how)) return std::nullopt;
    r.sampled = w.next() == "s";
    auto name = unescaped(w.next());
    if (!name || name->size() > longest_ledger_upstream) return std::nullopt;
    r.upstream = std::move(*name);
    if (!read(w.next(), r.first) || !read(w.next(), r.last) || !read(w.next(), r.fills) ||
        !read(w.next(), r.promise.runs))
        return std::nullopt;
    // One way to write each record: what is not that was not written by us.
    if (encode_ledger_line(r) != line) return std::nullopt;
    return r;
}

}  // namespace idem::cache
