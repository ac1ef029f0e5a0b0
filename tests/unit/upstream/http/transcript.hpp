#pragma once
// Runs a parser over a message that arrives in given pieces, the way a connection does, and writes down what it said.
#include <string>
#include <string_view>
#include <vector>

#include "upstream/base/reason.hpp"
#include "upstream/http/message.hpp"

namespace idem::tests {

struct transcript {
    std::string events;  // "head", "complete", "error:REASON", "more", in order; body bytes gathered apart
    std::string detail;  // of the error
    std::string body;
    std::size_t consumed = 0;
    bool operator==(const transcript&) const = default;
    [[nodiscard]] bool refused(reason why) const { return events == "error:" + std::string(to_string(why)); }
};

template <class Parser>
transcript run(Parser& parser, std::string_view message, const std::vector<std::size_t>& cuts) {
    namespace http = upstream::http;
    transcript out;
    std::string buffer;
    std::size_t given = 0;
    std::size_t cut = 0;
    for (;;) {
        const http::parsed p = parser.next(buffer);
        out.body += p.body;
        out.consumed += p.consumed;
        buffer.erase(0, p.consumed);
        if (p.event == http::parse_event::head) out.events += "head ";
        if (p.event == http::parse_event::complete) out.events += "complete";
        if (p.event == http::parse_event::error) {
            out.events += "error:" + std::string(to_string(p.why));
            out.detail = p.detail;
        }
        if (p.event == http::parse_event::complete || p.event == http::parse_event::error) return out;
        if (p.event != http::parse_event::need_more) continue;
        if (given == message.size()) {
            out.events += "more";
            return out;
        }
        const std::size_t until = cut < cuts.size() ? std::min(cuts[cut++], message.size()) : message.size();
        if (until > given) buffer += message.substr(given, until - given);
        given = std::max(given, until);
    }
}

/// The message whole and byte by byte; both must say the same.
template <class Parser>
std::pair<transcript, transcript> both_ways(std::string_view message) {
    Parser whole;
    Parser bytewise;
    std::vector<std::size_t> every;
    for (std::size_t i = 1; i <= message.size(); ++i) every.push_back(i);
    return {run(whole, message, {}), run(bytewise, message, every)};
}

}  // namespace idem::tests
