// Request and response heads on any bytes, whole and split: the events are the same, the caps hold, nothing that was
// accepted can be read in two ways, and Beast reads the same fields. The first byte of the input chooses the split.
#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "tests/unit/upstream/http/transcript.hpp"

namespace {

using namespace idem;
using namespace idem::upstream::http;

std::vector<std::size_t> cuts(std::uint8_t seed, std::size_t size) {
    std::vector<std::size_t> out;
    for (std::size_t at = seed % 7 + 1; at < size; at += seed % 31 + 1) out.push_back(at);
    return out;
}

void must(bool holds) {
    if (!holds) std::abort();
}

bool clean(std::string_view s) {
    return s.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

void check_fields(const fields& f) {
    must(f.size() <= parse_limits{}.head_fields);
    for (const auto [name, value] : f) must(clean(name) && clean(value) && !name.empty());
    must(f.count("Content-Length") + f.count("Transfer-Encoding") <= 1);
    must(f.count("Connection") <= 1);
}

void check_request(const request_head& h) {
    check_fields(h.headers);
    must(h.target.size() <= parse_limits{}.target_bytes);
    must(h.target.starts_with('/') || h.target == "*");
    must(h.headers.count("Host") == 1 || h.version == 10);
    must(h.framing != body_framing::close_delimited);
}

namespace beast_http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

/// The other reader: Beast's grammar, which keeps what it saw.
template <bool Request>
struct beast_head final : beast_http::basic_parser<Request> {
    std::vector<std::pair<std::string, std::string>> seen;

    bool parse(std::string_view raw) {
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
        this->body_limit(boost::none);
        error_code ec;
        return this->put(boost::asio::const_buffer(raw.data(), raw.size()), ec) == raw.size() && !ec;
    }
    void on_request_impl(beast_http::verb, string_view, string_view, int, error_code&) override {}
    void on_response_impl(int, string_view, int, error_code&) override {}
    void on_field_impl(beast_http::field, string_view name, string_view value, error_code&) override {
        seen.emplace_back(std::string(name), std::string(value));
    }
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}
};

/// Beast insists on a sound list in Proxy-Connection, which means nothing to us, and in the Connection of answers,
/// where we are lenient; and it saw the Connection lines before they were joined.
template <bool Request>
void beast_agrees(std::string_view message, const fields& ours) {
    if (ours.count("Proxy-Connection") > 0 || (!Request && ours.count("Connection") > 0)) return;
    const std::string_view from = message.substr(message.starts_with("\r\n") ? 2 : 0);
    beast_head<Request> theirs;
    must(theirs.parse(from.substr(0, from.find("\r\n\r\n") + 4)));
    std::size_t connections = 0;
    for (const auto& [name, value] : theirs.seen) connections += iequals(name, "Connection");
    if (connections > 1) return;
    must(theirs.seen.size() == ours.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        must(theirs.seen[i].first == ours[i].name && theirs.seen[i].second == ours[i].value);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view message(reinterpret_cast<const char*>(data) + 1, size - 1);
    request_parser whole;
    request_parser split;
    const auto said = tests::run(whole, message, {});
    must(said == tests::run(split, message, cuts(data[0], message.size())));
    must(said.consumed <= message.size());
    if (said.events.starts_with("head")) {
        check_request(whole.head());
        beast_agrees<true>(message, whole.head().headers);
    }
    response_parser answer;
    response_parser answer_split;
    const auto answered = tests::run(answer, message, {});
    must(answered == tests::run(answer_split, message, cuts(data[0], message.size())));
    if (answered.events.starts_with("head")) {
        check_fields(answer.head().headers);
        // Some servers leave out the space before an empty reason phrase; Beast insists on it.
        if (message.find("\r\n") != std::string_view("HTTP/1.1 200").size()) {
            beast_agrees<false>(message, answer.head().headers);
        }
    }
    return 0;
}
