#include "upstream/dialect/anthropic_nonce.hpp"

#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect::anthropic {
namespace {

constexpr std::string_view marker = "x-anthropic-billing-header:";

bool is_name(char c) noexcept {
    return (c >= 'a' && c <= 'z') || c == '_';
}

bool is_value(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_' || c == '+';
}

template <class Test>
std::size_t take_while(std::string_view& text, Test test) noexcept {
    std::size_t n = 0;
    while (n < text.size() && test(text[n])) ++n;
    text.remove_prefix(n);
    return n;
}

// Takes one nonce line off the front, with its line feed; false if there is none.
bool take_nonce(std::string_view& text) noexcept {
    if (!text.starts_with(marker)) return false;
    std::string_view rest = text.substr(marker.size());
    const auto blank = [](char c) { return c == ' '; };
    for (;;) {
        take_while(rest, blank);
        if (rest.empty() || rest.front() == '\n') break;
        if (take_while(rest, is_name) == 0 || !rest.starts_with('=')) return false;
        rest.remove_prefix(1);
        take_while(rest, is_value);
        if (!rest.starts_with(';')) return false;
        rest.remove_prefix(1);
    }
    if (!rest.empty()) rest.remove_prefix(1);
    text = rest;
    return true;
}

// The text behind its nonce lines; nullopt if it has none.
std::optional<std::string> stripped(std::string_view token) {
    const auto text = string_text(token);
    if (!text) return std::nullopt;
    std::string_view rest = *text;
    if (!take_nonce(rest)) return std::nullopt;
    while (take_nonce(rest)) continue;
    return std::string(rest);
}

// Collects a text in which some places are replaced or left out.
class rewriter {
public:
    explicit rewriter(std::string_view text) : text_(text) { out_.reserve(text.size()); }
    void replace(std::string_view place, std::string_view by) {
        const auto at = static_cast<std::size_t>(place.data() - text_.data());
        out_.append(text_.substr(done_, at - done_)).append(by);
        done_ = at + place.size();
    }
    [[nodiscard]] std::string finish() && {
        out_.append(text_.substr(done_));
        return std::move(out_);
    }

private:
    std::string_view text_;
    std::string out_;
    std::size_t done_ = 0;
};

std::string quoted(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

// The array of blocks, anew; nullopt if no block has a nonce.
std::optional<std::string> stripped_blocks(std::string_view array) {
    std::string out = "[";
    bool changed = false;
    json_items blocks(array);
    while (blocks.next()) {
        std::string_view text;
        json_members members(blocks.value());
        while (members.next()) {
            if (key_is(members.key(), "text")) text = members.value();
        }
        const auto rest = stripped(text);
        if (rest) changed = true;
        if (rest && rest->empty()) continue;
        if (out.size() > 1) out += ',';
        if (!rest) {
            out += blocks.value();
            continue;
        }
        rewriter block(blocks.value());
        block.replace(text, quoted(*rest));
        out += std::move(block).finish();
    }
    if (!changed) return std::nullopt;
    return out + "]";
}

}  // namespace

std::optional<std::string> without_nonces(std::string_view body) {
    // Escapes may spell the marker too.
    if (body.find(marker) == std::string_view::npos && body.find("\\u") == std::string_view::npos) return std::nullopt;
    std::string_view system;
    json_members members(body);
    while (members.next()) {
        if (key_is(members.key(), "system")) system = members.value();
    }
    std::optional<std::string> instead;
    if (kind_of(system) == json_kind::array) {
        instead = stripped_blocks(system);
    } else if (const auto rest = stripped(system)) {
        instead = quoted(*rest);
    }
    if (!instead) return std::nullopt;
    rewriter whole(body);
    whole.replace(system, *instead);
    return std::move(whole).finish();
}

}  // namespace idem::upstream::dialect::anthropic
