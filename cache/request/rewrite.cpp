#include "cache/request/rewrite.hpp"

#include <cstring>
#include <utility>

#include "upstream/dialect/json_text.hpp"

// One pass over text that is known to be valid, so it looks for the ends of tokens and no more; nesting, and with it
// the recursion, is bounded by what the canonicaliser accepts.
namespace idem::cache {
namespace {

constexpr std::size_t retained = std::size_t{4} << 20;  // memory that one long body may leave behind

void release(std::string& text) noexcept {
    if (text.capacity() > retained) text = std::string();
    text.clear();
}

}  // namespace

std::optional<std::string_view> rewriter::rewrite(std::string_view json, const rewriting& by) {
    release(out_);
    release(scratch_);
    release(key_);
    by_ = &by;
    done_ = in_ = json.data();
    end_ = in_ + json.size();
    changed_ = false;
    alive_.clear();
    by.places.start(alive_);
    skip_space();
    value(false, 0, alive_.size());
    if (!changed_) return std::nullopt;
    keep_until(end_);
    return out_;
}

void rewriter::keep_until(const char* place) {
    if (!changed_) out_.reserve(static_cast<std::size_t>(end_ - done_));
    out_.append(done_, place);
    done_ = place;
    changed_ = true;
}

void rewriter::take_out(const char* from, const char* to) {
    keep_until(from);
    done_ = to;
}

void rewriter::skip_space() noexcept {
    while (in_ != end_ && (*in_ == ' ' || *in_ == '\n' || *in_ == '\t' || *in_ == '\r')) ++in_;
}

// From a quote to behind its counterpart: the next quote with an even number of backslashes before it.
void rewriter::skip_string() noexcept {
    const char* const first = ++in_;
    while (in_ != end_) {
        const auto* quote = static_cast<const char*>(std::memchr(in_, '"', static_cast<std::size_t>(end_ - in_)));
        if (!quote) {
            in_ = end_;
            return;
        }
        in_ = quote + 1;
        const char* back = quote;
        while (back != first && back[-1] == '\\') --back;
        if ((quote - back) % 2 == 0) return;
    }
}

void rewriter::skip_value() noexcept {
    std::size_t open = 0;
    while (in_ != end_) {
        switch (*in_) {
            case '"':
                skip_string();
                if (open == 0) return;
                break;
            case '{':
            case '[':
                ++open;
                ++in_;
                break;
            case '}':
            case ']':
                if (open == 0) return;  // behind a number or a word
                ++in_;
                if (--open == 0) return;
                break;
            case ',':
                if (open == 0) return;
                ++in_;
                break;
            default:
                ++in_;
        }
    }
}

void rewriter::value(bool prompt, std::size_t from, std::size_t to) {
    if (in_ == end_) return;
    if (*in_ == '"') {
        text(prompt);
    } else if (by_->places.idle(from, to) || (*in_ != '{' && *in_ != '[')) {
        skip_value();
    } else if (*in_ == '{') {
        object(from, to);
    } else {
        array(from, to);
    }
}

void rewriter::text(bool prompt) {
    const char* const begin = in_;
    skip_string();
    if (!prompt) return;
    const std::string_view token(begin, static_cast<std::size_t>(in_ - begin));
    const std::string_view inner = token.substr(1, token.size() - 2);
    if (inner.find('\\') == std::string_view::npos) {
        scratch_ = inner;
    } else {
        scratch_ = upstream::dialect::string_text(token).value_or(std::string());
    }
    if (!normalise(scratch_, by_->text)) return;
    keep_until(begin);
    upstream::dialect::append_json_string(out_, scratch_);
    done_ = in_;
}

// The key at hand without escapes; valid until the next call.
std::string_view rewriter::key() {
    const char* const begin = in_;
    skip_string();
    const std::string_view token(begin, static_cast<std::size_t>(in_ - begin));
    const std::string_view inner = token.substr(1, token.size() - 2);
    if (inner.find('\\') == std::string_view::npos) return inner;
    key_ = upstream::dialect::string_text(token).value_or(std::string());
    return key_;
}

void rewriter::object(std::size_t from, std::size_t to) {
    const std::size_t below = alive_.size();
    const char* comma = nullptr;  // before the member at hand
    bool any_kept = false;
    ++in_;
    while (in_ != end_) {
        skip_space();
        if (in_ == end_ || *in_ != '"') break;
        const char* const begin = in_;
        const rule_set::verdict v = by_->places.member(alive_, from, to, key());
        skip_space();
        ++in_;  // the colon
        skip_space();
        if (v.ignored) {
            skip_value();
        } else {
            value(v.prompt_text, below, alive_.size());
        }
        const char* const end = in_;
        alive_.resize(below);
        skip_space();
        const bool more = in_ != end_ && *in_ == ',';
        if (!v.ignored) {
            any_kept = true;
        } else if (any_kept) {
            take_out(comma, end);
        } else {
            take_out(begin, more ? in_ + 1 : end);
        }
        if (!more) break;
        comma = in_++;
    }
    if (in_ != end_) ++in_;  // the brace
}

void rewriter::array(std::size_t from, std::size_t to) {
    const std::size_t below = alive_.size();
    const rule_set::verdict v = by_->places.element(alive_, from, to);
    const std::size_t inside = alive_.size();
    ++in_;
    for (;;) {
        skip_space();
        if (in_ == end_ || *in_ == ']') break;
        value(v.prompt_text, below, inside);
        skip_space();
        if (in_ == end_ || *in_ != ',') break;
        ++in_;
    }
    alive_.resize(below);
    if (in_ != end_) ++in_;  // the bracket
}

}  // namespace idem::cache
