#pragma once
// The body of an admin request: an object of texts, which says each thing once. Pure; any thread.
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace idem::gateway::admin {

struct text_members {
    std::map<std::string, std::string, std::less<>> of;  // all of `wanted`, and what there was of `optional`
    std::string error;                                   // what is wrong with the body, by name; else empty
};
/// Every one of `wanted` has to be there, those of `optional` may be; each once, as a text that is not empty, and
/// nothing else.
[[nodiscard]] text_members read_texts(std::string_view body, std::span<const std::string_view> wanted,
                                      std::span<const std::string_view> optional = {});

}  // namespace idem::gateway::admin
