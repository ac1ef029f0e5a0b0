#include "upstream/http/head_grammar.hpp"

#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>

namespace idem::upstream::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

std::string_view text(string_view s) noexcept {
    return {s.data(), s.size()};
}

constexpr std::array<std::string_view, 9> guarded = {
    "transferencoding", "contentlength", "contenttype",   "contentencoding",    "xapikey",
    "apikey",           "xgoogapikey",   "authorization", "proxyauthorization",
};

/// Gateways that map names to variables fold "-" and "_" into one: Transfer_Encoding or X__Api-Key may come to mean the
/// real field behind us.
bool is_lookalike(std::string_view name) noexcept {
    bool suspicious = name.starts_with('-') || name.ends_with('-');
    for (std::size_t i = 0; i < name.size() && !suspicious; ++i) {
        suspicious = name[i] == '_' || (name[i] == '-' && i > 0 && name[i - 1] == '-');
    }
    if (!suspicious) return false;
    std::array<char, 24> squeezed{};
    std::size_t n = 0;
    for (const char c : name) {
        if (c == '-' || c == '_') continue;
        if (n == squeezed.size()) return false;
        squeezed[n++] = c;
    }
    const std::string_view folded(squeezed.data(), n);
    if (n >= 4 && iequals(folded.substr(0, 4), "idem")) return true;
    for (const std::string_view g : guarded) {
        if (iequals(folded, g)) return true;
    }
    return false;
}

void note(noted& n, std::string_view value) noexcept {
    ++n.count;
    n.value = value;
}

/// Shared part of both directions. The body never reaches Beast: its 1.81 parser merges trailers into the header.
template <bool Request, class Head>
class grammar final : public beast_http::basic_parser<Request> {
public:
    grammar(Head& head, head_facts& facts) : head_(head), facts_(facts) {
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
        this->body_limit(boost::none);
    }

private:
    void on_request_impl(beast_http::verb, string_view method, string_view target, int version, error_code&) override {
        if constexpr (Request) {
            head_.method.assign(method.data(), method.size());
            head_.target.assign(target.data(), target.size());
            head_.version = static_cast<unsigned>(version);
        }
    }
    void on_response_impl(int code, string_view phrase, int version, error_code&) override {
        if constexpr (!Request) {
            head_.status = static_cast<unsigned>(code);
            head_.reason_phrase.assign(phrase.data(), phrase.size());
            head_.version = static_cast<unsigned>(version);
        }
    }
    void on_field_impl(beast_http::field id, string_view name, string_view value, error_code&) override {
        const std::string_view v = text(value);
        head_.headers.add(text(name), v);
        switch (id) {
            case beast_http::field::host:
                note(facts_.host, v);
                break;
            case beast_http::field::content_length:
                note(facts_.content_length, v);
                break;
            case beast_http::field::transfer_encoding:
                note(facts_.transfer_encoding, v);
                break;
            case beast_http::field::connection:
                note(facts_.connection, v);
                break;
            case beast_http::field::expect:
                note(facts_.expect, v);
                break;
            case beast_http::field::upgrade:
                note(facts_.upgrade, v);
                break;
            case beast_http::field::unknown:
                facts_.lookalike = facts_.lookalike || is_lookalike(text(name));
                break;
            default:
                break;
        }
    }
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}

    Head& head_;
    head_facts& facts_;
};

std::string_view describe(const error_code& ec) noexcept {
    if (ec == beast_http::error::bad_method) return "the method is malformed";
    if (ec == beast_http::error::bad_target) return "the request target is malformed";
    if (ec == beast_http::error::bad_version) return "the HTTP version is malformed or not supported";
    if (ec == beast_http::error::bad_status) return "the status line is malformed";
    if (ec == beast_http::error::bad_reason) return "the reason phrase is malformed";
    if (ec == beast_http::error::bad_field) return "a field name is malformed";
    if (ec == beast_http::error::bad_value) return "a field value is malformed";
    if (ec == beast_http::error::bad_content_length) return "Content-Length is malformed or conflicts";
    if (ec == beast_http::error::multiple_content_length) return "Content-Length is given more than once";
    if (ec == beast_http::error::bad_transfer_encoding) return "Transfer-Encoding is malformed or conflicts";
    if (ec == beast_http::error::bad_line_ending) return "a CR stands alone";
    return "the head is malformed";
}

template <bool Request, class Head>
verdict run(std::string_view raw, Head& head, head_facts& facts, reason otherwise) {
    grammar<Request, Head> g(head, facts);
    error_code ec;
    const std::size_t n = g.put(boost::asio::const_buffer(raw.data(), raw.size()), ec);
    if (ec) return {otherwise, describe(ec)};
    if (n != raw.size() || !g.is_header_done()) return {otherwise, "the head is malformed"};
    return {};
}

}  // namespace

verdict parse_head(std::string_view raw, request_head& head, head_facts& facts) {
    return run<true>(raw, head, facts, reason::bad_request);
}

verdict parse_head(std::string_view raw, response_head& head, head_facts& facts) {
    return run<false>(raw, head, facts, reason::upstream_malformed);
}

}  // namespace idem::upstream::http
