#include "gateway/config/pointers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cache/request/rules.hpp"

namespace idem::gateway::config {

namespace {

constexpr std::size_t most_pointers = 256;
constexpr std::size_t longest_pointer = 1024;

// Members by which a request is routed, or which say in which form its caller reads the answer.
constexpr std::array<std::string_view, 2> needed = {"model", "stream"};

// Every member of the top that the pointer may name; empty for one that leads further down.
std::string_view top_member(std::string_view pointer) {
    pointer.remove_prefix(pointer.find('/') + 1);
    return pointer.find('/') == std::string_view::npos ? pointer : std::string_view{};
}

bool names_index(std::string_view pointer) {
    for (std::size_t from = pointer.find('/') + 1;;) {
        const std::string_view segment = pointer.substr(from, pointer.find('/', from) - from);
        if (!segment.empty() && std::ranges::all_of(segment, [](char c) { return c >= '0' && c <= '9'; })) return true;
        if (from + segment.size() >= pointer.size()) return false;
        from += segment.size() + 1;
    }
}

}  // namespace

std::vector<pointer_problem> problems_of(std::span<const std::string> pointers) {
    std::vector<pointer_problem> found;
    if (pointers.size() > most_pointers) found.push_back({"more than 256 pointers"});
    for (const std::string& pointer : pointers) {
        if (pointer.size() > longest_pointer) {
            found.push_back({"a pointer is longer than 1024 bytes"});
            continue;
        }
        const std::string shown = "\"" + pointer + "\" ";
        if (const std::string_view fault = cache::pointer_fault(pointer); !fault.empty()) {
            found.push_back({shown + std::string(fault) + "; expected a JSON pointer such as /metadata/trace_id"});
            continue;
        }
        const std::string_view member = top_member(pointer);
        if (member == "*" || std::ranges::find(needed, member) != needed.end()) {
            found.push_back({shown + "would take out `model` or `stream`, by which requests are routed and answered"});
        } else if (names_index(pointer)) {
            found.push_back({shown + "names a member by a number; elements of lists are named by *, all alike", false});
        }
    }
    return found;
}

}  // namespace idem::gateway::config
