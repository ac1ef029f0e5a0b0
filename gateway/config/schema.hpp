#pragma once
// The one table of the configuration: every key with its type, default, range and meaning. Loading, `idem config
// defaults`, `idem config schema`, `idem config effective` and conf/reference.md are all made from it. Constant data.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/config/config.hpp"

namespace idem::gateway::config {

enum class kind : std::uint8_t {
    boolean,
    integer,
    size,     // bytes
    share,    // bytes, or a percentage of the memory limit
    percent,  // of a number that the key names; 50%
    ratio,    // 0 to 1; 0.02
    duration,
    address,
    choice,  // one of `choices`
    text,
    secret,  // text that is never printed; also {file: PATH}
    url,     // text whose user information is never printed
    texts,   // list of texts, in environment and flags separated by commas
    urls,
    pairs,  // mapping of names to texts
    items,  // list of mappings that `below` describes
    named,  // mapping of names to mappings that `below` describes
};

/// A value after parsing, whatever its kind.
struct value {
    std::uint64_t number = 0;  // boolean, integer, size, share, ratio in millionths, duration in ms, index of a choice
    std::string text;
    address at;
    std::vector<std::string> list;
    std::vector<std::pair<std::string, std::string>> pairs;
};

struct section;
struct key;

/// How a key reaches the structs of config.hpp. `into` and `from` are the struct that the section describes.
struct binding {
    void (*set)(void* into, const value& v) = nullptr;
    /// Nothing where the value is absent.
    std::optional<value> (*get)(const void* from) = nullptr;
    // For items and named: the elements.
    void* (*append)(void* into) = nullptr;
    std::size_t (*count)(const void* from) = nullptr;
    const void* (*element)(const void* from, std::size_t i) = nullptr;
};

struct key {
    std::string_view path;  // dotted, below its section
    kind type = kind::text;
    std::string_view fallback{};  // the default as it would be written; empty: none
    std::string_view help{};      // one or two sentences, no line break
    std::uint64_t least = 0;      // of integer, size and duration (ms)
    std::uint64_t most = ~0ull;
    std::string_view choices{};  // "full|minimal|none", in the order of the enumerators
    bool required = false;
    const section* below = nullptr;
    std::string_view example{};  // for lists without a default
    binding to{};
};

struct section {
    std::string_view name;  // what one element is called
    std::string_view help;
    std::span<const key> keys;
};

/// The top of the document; fills `configuration`.
[[nodiscard]] const section& schema();
/// Of one policy; fills `policy`. `schema()` names it too.
[[nodiscard]] const section& policy_section();

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// "a duration such as 50ms, 30s, 15m or 30d, from 1ms": for messages and the reference.
[[nodiscard]] std::string expected(const key& k);
/// ", from 1ms to 10m"; empty for kinds without a range.
[[nodiscard]] std::string range(const key& k);
/// The value as it would be written in a file (lists and pairs in flow style). Secrets become "***".
[[nodiscard]] std::string written(const key& k, const value& v);

}  // namespace idem::gateway::config
