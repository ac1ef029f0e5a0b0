#pragma once
// Both forms of one simulated answer, held against the dialect that reads them.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

#include "upstream/dialect/dialect.hpp"
#include "upstream/simulate/script.hpp"

namespace idem::upstream::simulate::testing {

inline std::string text_of(const answer& a) {
    std::string out;
    for (const piece& p : a.pieces) out += p.bytes;
    return out;
}

/// Both are whole, say the same, and become each other.
inline void check_forms(const dialect::dialect& d, const dialect::call& c, const answer& object,
                        const answer& streamed) {
    CHECK(object.content_type == "application/json");
    CHECK(streamed.stream);
    CHECK(streamed.content_type.starts_with("text/event-stream"));
    const std::string whole = text_of(object);
    const std::string stream = text_of(streamed);
    CAPTURE(whole);
    CAPTURE(stream);
    for (const auto& [f, body] : {std::pair(dialect::form::json, whole), std::pair(dialect::form::sse, stream)}) {
        const auto w = d.watch(f, c);
        w->feed(body);
        const auto v = w->finish(true);
        CHECK(v.refuse == reason::none);
        REQUIRE(v.tokens);
        CHECK(v.tokens->input > 0);
        CHECK(v.tokens->output > 0);
    }
    const auto assembled = d.assemble(stream);
    REQUIRE(assembled);
    CHECK(boost::json::parse(*assembled) == boost::json::parse(whole));
    const auto split = d.split(whole, true);
    REQUIRE(split);
    CHECK(boost::json::parse(*d.assemble(*split)) == boost::json::parse(whole));
    CHECK(d.normalised(dialect::form::sse, stream) == d.normalised(dialect::form::json, whole));
}

}  // namespace idem::upstream::simulate::testing
