#pragma once
// Two mistakes of YAML that its parser notices only where they hurt, told where they were made: tabs as indentation
// (YAML 1.2.2 section 6.1) and quotes that are not closed (section 7.3). Pure.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/config/document.hpp"

namespace idem::gateway::config {

/// Where the text behind the quote at `begin` ends: just behind its closing quote, or npos if there is none.
[[nodiscard]] std::size_t end_of_quoted(std::string_view text, std::size_t begin) noexcept;

/// A quoted text that the parser has read.
struct quoted_text {
    place at;
    std::size_t begin = 0, end = 0;  // offsets of the opening quote and just behind the closing one
};

/// The parser's complaint, or a better one. `last`: the quoted text that it read last.
[[nodiscard]] problem explain_syntax(std::string_view text, problem said, const std::optional<quoted_text>& last);

}  // namespace idem::gateway::config
