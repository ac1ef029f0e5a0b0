// The canonicaliser on any bytes: a form is its own canonical form, is bounded, and stands for text that another parser
// takes for an object too; what is refused for its syntax, that parser refuses as well.
#include <boost/json.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cache/request/canonical.hpp"

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
    return 0;
}
