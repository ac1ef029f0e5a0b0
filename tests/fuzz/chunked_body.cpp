// Chunked bodies on any bytes, whole, split and byte by byte: the same events and the same body; a body that is
// accepted survives being chunked again. The first byte of the input chooses the split.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/unit/upstream/http/transcript.hpp"

namespace {

using namespace idem;
using namespace idem::upstream::http;

constexpr std::string_view head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

void must(bool holds) {
    if (!holds) std::abort();
}

std::string chunked(std::string_view body, std::size_t piece) {
    std::string out(head);
    for (std::size_t at = 0; at < body.size(); at += piece) {
        const std::string_view part = body.substr(at, piece);
        char line[24];
        out.append(line, static_cast<std::size_t>(std::snprintf(line, sizeof line, "%zx\r\n", part.size())));
        out.append(part).append("\r\n");
    }
    return out.append("0\r\n\r\n");
}

tests::transcript parse(std::string_view message, const std::vector<std::size_t>& cuts) {
    request_parser p;
    return tests::run(p, message, cuts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string message = std::string(head).append(reinterpret_cast<const char*>(data) + 1, size - 1);
    std::vector<std::size_t> some;
    for (std::size_t at = head.size(); at < message.size(); at += data[0] % 31u + 1) some.push_back(at);
    const auto said = parse(message, {});
    must(said == parse(message, some));
    must(said.consumed <= message.size() && said.body.size() < size);
    if (said.events == "head complete") {
        const auto again = parse(chunked(said.body, data[0] % 100u + 1), {});
        must(again.events == "head complete" && again.body == said.body);
    }
    return 0;
}
