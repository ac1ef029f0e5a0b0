#pragma once
// A YAML document as a tree that remembers where each part was written, for messages. Anchors and aliases are resolved;
// a document that would expand beyond `node_cap` is refused. No file access here: the text is an argument.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace idem::gateway::config {

/// Where something was said: a file with line and column (from 1), or a flag or environment variable (line 0).
struct place {
    std::string source;
    int line = 0, column = 0;
    bool expanded = false;  // the value came out of `${…}`, so no message shows it
    /// "idem.yaml:3:7", or "--set cache.ttl".
    [[nodiscard]] std::string text() const;
};

struct problem {
    place at;
    std::string message;
    [[nodiscard]] std::string text() const { return at.text() + ": " + message; }
};

struct node {
    enum class shape : std::uint8_t { null, scalar, sequence, mapping } is = shape::null;
    place at;
    std::string scalar{};
    std::string written{};      // the scalar before `${…}` was expanded: what messages show
    bool expanded = false;      // `scalar` came from the environment
    bool literal = false;       // not from a file: `${…}` is not expanded
    std::string name{};         // inside a mapping: its key
    std::vector<node> items{};  // of a sequence; of a mapping, in order (duplicates were reported and dropped)

    /// Member of a mapping, or null.
    [[nodiscard]] node* find(std::string_view key) noexcept;
    [[nodiscard]] const node* find(std::string_view key) const noexcept;
};

inline constexpr std::size_t node_cap = 100'000;

/// An empty text is an empty mapping. Problems: syntax errors, duplicate keys, several documents.
[[nodiscard]] node parse_yaml(const std::string& text, const std::string& name, std::vector<problem>& problems);

}  // namespace idem::gateway::config
