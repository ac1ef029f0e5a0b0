// The canonicaliser on any bytes: a form is its own canonical form, is bounded, and stands for text that another parser
// takes for an object too; what is refused for its syntax, that parser refuses as well. What a policy makes of an
// accepted body is accepted again, without what is taken out, and is left as it is the second time.
#include <boost/json.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cache/request/canonical.hpp"
#include "cache/request/rewrite.hpp"

namespace {

using idem::reason;
using idem::cache::canonicalizer;

constexpr std::string_view ignored[] = {"/user", "/stream", "/m/*/c/*/x", "**/cc"};
constexpr std::string_view kept[] = {"/tools/*/p", "/k"};
constexpr idem::upstream::dialect::body_rules rules{ignored, kept};

enum class opinion { object, no_object, none };

// What another parser thinks of the text. It has none where an exponent is too long for it.
opinion ask(std::string_view text) {
    boost::json::parse_options options;
    options.max_depth = 1024;
    boost::json::error_code ec;
    const boost::json::value v = boost::json::parse({text.data(), text.size()}, ec, {}, options);
    if (ec == boost::json::error::exponent_overflow) return opinion::none;
    return !ec && v.is_object() ? opinion::object : opinion::no_object;
}

void check(bool holds) {
    if (!holds) std::abort();
}

constexpr std::string_view prompts[] = {"/m/*/c", "/m/*/c/*/t", "/p", "/p/*", "**/text"};

void check_rewriting(canonicalizer& c, const std::string& text, const idem::cache::text_rules& changes) {
    static const std::vector<std::string> taken_out = {"/user", "/m/*/x", "**/cc", "/~0"};
    const idem::cache::rewriting by{idem::cache::rule_set(taken_out, prompts), changes};
    static idem::cache::rewriter rewriter;
    const std::string out(rewriter.rewrite(text, by).value_or(text));
    check(out.size() <= 6 * text.size() + 16);
    check(c.canonicalize(out, idem::upstream::dialect::body_rules{}).why == reason::none);
    check(!rewriter.rewrite(out, by));
    // What is left has nothing that would be taken out, and what was taken out is all that is gone.
    constexpr std::string_view same[] = {"/user", "/m/*/x", "**/cc", "/~0"};
    if (changes.any()) return;
    const idem::upstream::dialect::body_rules without{same, {}};
    const std::string wanted(c.canonicalize(text, without).text);
    check(c.canonicalize(out, idem::upstream::dialect::body_rules{}).text == wanted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static canonicalizer c, again;
    // An allocation of its own, so that the address sanitizer sees any read beyond the end.
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto form = c.canonicalize(text, rules);
    if (form.why != reason::none) {
        check(form.text.empty());
        const bool syntax = form.why == reason::body_not_json || form.why == reason::body_invalid_utf8;
        if (syntax) check(ask(text) != opinion::object);
        return 0;
    }
    check(ask(text) != opinion::no_object && ask(form.text) == opinion::object);
    check(form.text.size() <= 6 * size + 16);
    const auto second = again.canonicalize(form.text, rules);
    check(second.why == reason::none && second.text == form.text);

    const std::string plain(again.canonicalize(text, idem::upstream::dialect::body_rules{}).text);
    check(!plain.empty());
    check(again.canonicalize(plain, idem::upstream::dialect::body_rules{}).text == plain);
    check_rewriting(again, text, {});
    check_rewriting(again, text, {true, true, true});
    check_rewriting(again, text, {.trim = true});
    return 0;
}
