#pragma once
// Arbitrary JSON for properties: few pieces, but those that break parsers.
#include <rapidcheck.h>

#include <boost/json.hpp>
#include <iterator>
#include <string_view>

namespace idem::upstream::dialect::testing {

inline bool coin() {
    return *rc::gen::inRange(0, 2) == 1;
}

inline boost::json::string any_text(int shortest = 0) {
    static constexpr std::string_view pieces[] = {"a",  "\"", "\\", "\n", "é",      "漢",
                                                  "🙂", " ",  "\t", "{",  "data: ", "\r"};
    boost::json::string out;
    for (int n = *rc::gen::inRange(shortest, shortest + 6); n > 0; --n)
        out.append(pieces[*rc::gen::inRange<std::size_t>(0, std::size(pieces))]);
    return out;
}

inline boost::json::value any_value(int depth = 2) {
    switch (*rc::gen::inRange(0, depth > 0 ? 7 : 4)) {
        case 0:
            return nullptr;
        case 1:
            return any_text();
        case 2:
            return *rc::gen::arbitrary<int>();
        case 3:
            return coin();
        case 4:
            return boost::json::array{any_value(depth - 1), any_value(depth - 1)};
        default:
            return boost::json::object{{"k", any_value(depth - 1)}, {"type", any_text()}};
    }
}

}  // namespace idem::upstream::dialect::testing
