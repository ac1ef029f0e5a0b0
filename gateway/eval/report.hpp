#pragma once
// What an evaluation says, for machines and for people. Pure; any thread. Model outputs and names are hostile text:
// each writer escapes them for its format.
#include <string>

#include "gateway/eval/score.hpp"

namespace idem::gateway::eval {

/// README.md describes the members.
[[nodiscard]] std::string report_json(const recording& all, const summary& s);
/// Short, for a pull request.
[[nodiscard]] std::string report_markdown(const recording& all, const summary& s);
/// JUnit XML, as build servers read it: a suite a cell, a case a prompt.
[[nodiscard]] std::string report_junit(const recording& all, const summary& s);
/// One page without anything from elsewhere: no script, inline style and SVG; light and dark by the reader's setting.
[[nodiscard]] std::string report_html(const recording& all, const summary& s);

/// As an attribute or text of HTML and of XML 1.0, which has no place for most control characters.
[[nodiscard]] std::string in_markup(std::string_view text);
/// The result whose log-probabilities drift the most; null where none are told, or none differ.
[[nodiscard]] const result* most_drift(const summary& s);
/// "0.986423"; six digits, as scores are printed.
[[nodiscard]] std::string six(double value);
[[nodiscard]] std::string percent(double share);
/// "0.02 % to 2.78 %".
[[nodiscard]] std::string range(upstream::determinism::interval of);
/// The bootstrap's range of a cell's flips; nothing where none were seen, of which a bootstrap can say nothing, nor of
/// the control.
[[nodiscard]] std::string share(const cell_result& c);

}  // namespace idem::gateway::eval
