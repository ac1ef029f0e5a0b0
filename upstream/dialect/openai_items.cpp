#include "upstream/dialect/openai_items.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect::openai {
namespace {

constexpr std::string_view input_member = "input";
// Beside its vectors an honest answer says a few words; each item repeats them.
constexpr std::size_t most_beside = 4096;
constexpr std::uint64_t most_tokens = std::uint64_t{1} << 32;
constexpr unsigned most_levels = 4;

struct member {
    std::string_view key, value;  // empty if there is none
};

member input_of(std::string_view body) {
    json_members members(body);
    while (members.next()) {
        if (key_is(members.key(), input_member)) return {members.key(), members.value()};
    }
    return {};
}

bool is_token_list(std::string_view value) {
    if (kind_of(value) != json_kind::array) return false;
    json_items tokens(value);
    bool any = false;
    while (tokens.next()) {
        if (kind_of(tokens.value()) != json_kind::number) return false;
        any = true;
    }
    return any;
}

// A number of tokens: a whole number that is no more than anybody's bill.
std::optional<std::uint64_t> count_of(std::string_view token) {
    std::uint64_t n = 0;
    const auto read = std::from_chars(token.data(), token.data() + token.size(), n);
    if (read.ec != std::errc{} || read.ptr != token.data() + token.size() || n > most_tokens) return std::nullopt;
    return n;
}

// Each total is cut at the same fractions, so the shares of one count add up to it.
void append_shares(std::vector<std::string>& out, std::string_view token, std::span<const std::uint32_t> weights,
                   unsigned level) {
    const auto to_all = [&](std::string_view text) {
        for (std::string& share : out) share += text;
    };
    if (const auto total = count_of(token)) {
        std::uint64_t all = 0, before = 0, given = 0;
        for (const std::uint32_t w : weights) all += w;
        for (std::size_t i = 0; i < out.size(); ++i) {
            before += weights[i];
            const auto until = static_cast<std::uint64_t>(
                static_cast<long double>(*total) * static_cast<long double>(before) / static_cast<long double>(all));
            out[i] += std::to_string(until - given);
            given = until;
        }
    } else if (kind_of(token) == json_kind::object && level < most_levels) {
        to_all("{");
        json_members members(token);
        for (bool first = true; members.next(); first = false) {
            to_all(first ? "\"" : ",\"");
            to_all(members.key());
            to_all("\":");
            append_shares(out, members.value(), weights, level + 1);
        }
        to_all("}");
    } else {
        to_all(token);
    }
}

void append_sum(std::string& out, std::span<const std::string_view> tokens, unsigned level) {
    const std::string_view first = tokens.front();
    if (count_of(first)) {
        std::uint64_t sum = 0;
        for (const std::string_view t : tokens) sum += count_of(t).value_or(0);
        out += std::to_string(sum);
    } else if (kind_of(first) == json_kind::object && level < most_levels) {
        out += '{';
        json_members members(first);
        std::vector<std::string_view> same(tokens.size());
        for (bool begun = false; members.next(); begun = true) {
            for (std::size_t i = 0; i < tokens.size(); ++i) same[i] = find_member(tokens[i], members.key());
            out.append(begun ? ",\"" : "\"").append(members.key()).append("\":");
            append_sum(out, same, level + 1);
        }
        out += '}';
    } else {
        out += first;
    }
}

// An answer around its list of items.
struct envelope {
    std::string_view top, data, usage;  // usage may be empty

    [[nodiscard]] std::size_t beside() const noexcept { return top.size() - data.size(); }
    // With another list and another usage.
    [[nodiscard]] std::string around(std::string_view list, std::string_view counts) const {
        const auto at = [this](std::string_view part) { return static_cast<std::size_t>(part.data() - top.data()); };
        std::string out;
        out.reserve(beside() + list.size() + counts.size());
        const bool usage_first = !usage.empty() && at(usage) < at(data);
        const auto [one, by_one, other, by_other] =
            usage_first ? std::tuple(usage, counts, data, list) : std::tuple(data, list, usage, counts);
        out.append(top.substr(0, at(one))).append(by_one);
        const std::size_t behind = at(one) + one.size();
        if (other.empty()) return out.append(top.substr(behind));
        out.append(top.substr(behind, at(other) - behind)).append(by_other);
        return out.append(top.substr(at(other) + other.size()));
    }
};

std::optional<envelope> envelope_of(std::string_view answer) {
    envelope e{.top = trim(answer), .data = {}, .usage = {}};
    if (kind_of(e.top) != json_kind::object || !unique_keys(e.top)) return std::nullopt;
    e.data = find_member(e.top, "data");
    e.usage = find_member(e.top, "usage");
    if (kind_of(e.data) != json_kind::array) return std::nullopt;
    return e;
}

// The item with another index in place of its own, or nothing where it is no item with one.
struct indexed {
    std::string_view item, index;

    [[nodiscard]] std::string as(std::size_t n) const { return spliced(item, index, std::to_string(n)); }
};

std::optional<indexed> indexed_of(std::string_view item) {
    if (kind_of(item) != json_kind::object || !unique_keys(item)) return std::nullopt;
    const indexed i{item, find_member(item, "index")};
    if (!count_of(i.index) || find_member(item, "embedding").empty()) return std::nullopt;
    return i;
}

class inputs final : public batching {
public:
    std::vector<std::string_view> items(std::string_view body) const override {
        const std::string_view input = input_of(body).value;
        if (kind_of(input) == json_kind::string || is_token_list(input)) return {input};
        if (kind_of(input) != json_kind::array) return {};
        std::vector<std::string_view> out;
        json_items each(input);
        while (each.next()) {
            const bool text = kind_of(each.value()) == json_kind::string;
            // Of one kind only: what a mixture means is the server's secret.
            if (!text && !is_token_list(each.value())) return {};
            if (!out.empty() && text != (kind_of(out.front()) == json_kind::string)) return {};
            if (out.size() == most_items) return {};
            out.push_back(each.value());
        }
        return out;
    }

    std::string without_items(std::string_view canonical) const override {
        const member input = input_of(canonical);
        return without_member(canonical, input.key, input.value);
    }

    std::uint32_t weight(std::string_view item) const override {
        std::size_t n = item.size();
        if (kind_of(item) == json_kind::array) n = 1 + static_cast<std::size_t>(std::ranges::count(item, ','));
        return static_cast<std::uint32_t>(std::clamp<std::size_t>(n, 1, UINT32_MAX));
    }

    std::string asking_for(std::string_view body, std::span<const std::string_view> some) const override {
        std::string list;
        for (const std::string_view item : some) list.append(list.empty() ? "[" : ",").append(item);
        return spliced(body, input_of(body).value, list + "]");
    }

    std::optional<std::vector<std::string>> split_answer(std::string_view answer,
                                                         std::span<const std::uint32_t> weights) const override {
        const auto around = envelope_of(answer);
        if (!around || around->beside() > most_beside) return std::nullopt;
        std::vector<std::optional<indexed>> found(weights.size());
        std::size_t count = 0;
        json_items items(around->data);
        for (; items.next(); ++count) {
            const auto item = indexed_of(items.value());
            const auto at = item ? count_of(item->index) : std::nullopt;
            if (!at || *at >= found.size() || found[*at]) return std::nullopt;
            found[*at] = item;
        }
        if (count != found.size()) return std::nullopt;
        std::vector<std::string> shares(found.size());
        if (found.size() == 1)
            shares.front() = around->usage;
        else if (!around->usage.empty())
            append_shares(shares, around->usage, weights, 0);
        std::vector<std::string> out;
        out.reserve(found.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            out.push_back(around->around('[' + found[i]->as(0) + ']', shares[i]));
        return out;
    }

    std::optional<std::string> join_answers(std::span<const std::string_view> answers) const override {
        if (answers.empty()) return std::nullopt;
        std::optional<envelope> first;
        std::string list = "[";
        std::vector<std::string_view> counts;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const auto around = envelope_of(answers[i]);
            if (!around) return std::nullopt;
            json_items items(around->data);
            const auto item = items.next() ? indexed_of(items.value()) : std::nullopt;
            if (!item || items.next()) return std::nullopt;
            if (i > 0) list += ',';
            list += item->as(i);
            counts.push_back(around->usage);
            if (!first) first = around;
        }
        std::string usage;
        append_sum(usage, counts, 0);
        return first->around(list + ']', usage);
    }
};

}  // namespace

const batching& embedding_inputs() noexcept {
    static const inputs instance;
    return instance;
}

}  // namespace idem::upstream::dialect::openai
