#pragma once
// Where two canonical bodies differ, as JSON pointers (RFC 6901): for people who ask why a request missed. Sans-I/O,
// any thread.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace idem::cache {

struct difference {
    enum class kind : unsigned char {
        changed,  // both have a value here, and they are not the same
        only_in_a,
        only_in_b,
        order,  // the same members in another order, where the order of keys reaches the model
    };
    std::string pointer;  // "" is the whole body
    kind what = kind::changed;
    std::string_view a, b;  // the values, views into the arguments; empty where there is none
};

struct differences {
    std::vector<difference> list;
    bool more = false;  // there are others beyond the limit
};

/// `a` and `b` as the canonicaliser wrote them (anything else yields something, but not sense), at most 256 levels
/// deep. In the order of `a`, then what only `b` has. At most `limit` of them.
[[nodiscard]] differences compare_canonical(std::string_view a, std::string_view b, std::size_t limit = 100);

}  // namespace idem::cache
