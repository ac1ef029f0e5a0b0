#include "gateway/config/syntax.hpp"

#include <algorithm>

namespace idem::gateway::config {

namespace {

int line_of(std::string_view text, std::size_t offset) {
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

std::string_view line_at(std::string_view text, int number) {
    for (; number > 1; --number) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::size_t end_of_quoted(std::string_view text, std::size_t begin) noexcept {
    const char quote = text[begin];
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
        if (quote == '"' && text[i] == '\\') {
            ++i;
        } else if (text[i] == quote) {
            // Inside single quotes a doubled one stands for itself.
            if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return i + 1;
            ++i;
        }
    }
    return std::string_view::npos;
}

problem explain_syntax(std::string_view text, problem said, const std::optional<quoted_text>& last) {
    const std::string_view line = line_at(text, said.at.line);
    const std::string_view indentation = line.substr(0, line.find_first_not_of(" \t"));
    if (const auto tab = indentation.find('\t'); tab != std::string_view::npos) {
        said.at.column = static_cast<int>(tab) + 1;
        said.message = "tabs are not allowed for indentation, use spaces";
        return said;
    }
    // A quote that was not closed ends at the next one, which was meant to open; what follows makes no sense.
    if (last && last->end <= text.size()) {
        const int ends = line_of(text, last->end);
        if (ends != last->at.line && ends == said.at.line) {
            return {last->at, "the quote that opens here is closed only in line " + std::to_string(ends) +
                                  "; its closing quote seems to be missing"};
        }
    }
    return said;
}

}  // namespace idem::gateway::config
