// Request and response heads on any bytes, whole and split: the events are the same, the caps hold, and nothing that
// was accepted can be read in two ways. The first byte of the input chooses the split.
#include <cstdint>
#include <cstdlib>

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view message(reinterpret_cast<const char*>(data) + 1, size - 1);
    request_parser whole;
    request_parser split;
    const auto said = tests::run(whole, message, {});
    must(said == tests::run(split, message, cuts(data[0], message.size())));
    must(said.consumed <= message.size());
    if (said.events.starts_with("head")) check_request(whole.head());
    response_parser answer;
    response_parser answer_split;
    const auto answered = tests::run(answer, message, {});
    must(answered == tests::run(answer_split, message, cuts(data[0], message.size())));
    if (answered.events.starts_with("head")) check_fields(answer.head().headers);
    return 0;
}
