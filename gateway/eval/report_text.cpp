// The reports that are text with few marks: Markdown and JUnit XML.
#include <algorithm>

#include "gateway/eval/report.hpp"
#include "upstream/determinism/compare/bleu.hpp"

namespace idem::gateway::eval {

namespace {

// Within a table of Markdown, and harmless as HTML.
std::string marked(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\n':
            case '\r':
                out += "⏎";
                break;
            case '|':
            case '`':
            case '*':
            case '_':
            case '[':
            case ']':
            case '\\':
                out += '\\';
                out += c;
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string difference(const result& r) {
    if (!r.parts) return {};
    return "at token " + std::to_string(r.parts->token) + ": \"" + r.parts->a + "\" against \"" + r.parts->b + "\"";
}

bool bad(const result& r) {
    return r.cell != "control" && r.flips > 0;
}

}  // namespace

std::string in_markup(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '"') {
            out += "&quot;";
        } else if (byte < 0x20 || byte == 0x7f) {
            out += c == '\n' ? "&#10;" : c == '\t' ? "&#9;" : "?";
        } else {
            out += c;
        }
    }
    return out;
}

std::string report_markdown(const recording& all, const summary& s) {
    std::string out = "## Determinism: " + std::string(to_string(s.says)) + "\n\n";
    out += "Score **" + six(s.score) + "**, at most " + percent(s.bound) + " flips (upper bound, " +
           percent(s.confidence) + " confidence over all cells), " + std::to_string(s.runs) + " runs against " +
           marked(all.about.target) + " (" + marked(all.about.engine) + ", " + marked(all.about.model) + ").\n\n";
    for (const std::string& why : s.reasons) out += "- " + marked(why) + "\n";
    out +=
        "\n| cell | runs | flips | share (bootstrap) | score | bound | in flight "
        "|\n|---|---:|---:|---:|---:|---:|---:|\n";
    for (const cell_result& c : s.cells)
        out += "| " + c.cell + (c.deterministic || c.cell == "control" ? "" : " ❌") + " | " + std::to_string(c.runs) +
               " | " + (c.cell == "control" ? s.control_saw ? "differs" : "does not differ" : std::to_string(c.flips)) +
               " | " + share(c) + " | " + six(c.score) + " | " + (c.cell == "control" ? "" : percent(c.bound)) + " | " +
               std::to_string(c.peak_in_flight) + " |\n";
    for (const skipped_cell& c : all.about.skipped)
        out += "| " + c.cell + " | skipped: " + marked(c.why) + " | | | | | |\n";
    if (std::ranges::any_of(s.results, bad)) {
        out +=
            "\n| prompt | cell | outputs | flips | share (Wilson) | shared | first difference "
            "|\n|---|---|---:|---:|---:|---|---|\n";
        for (const result& r : s.results)
            if (bad(r))
                out += "| " + marked(r.prompt) + " | " + r.cell + (r.variant.empty() ? "" : " (" + r.variant + ")") +
                       " | " + std::to_string(r.spread.unique) + " | " + std::to_string(r.flips) + " of " +
                       std::to_string(r.runs) + " | " + range(r.flip_rate) + " | " + std::string(to_string(r.shared)) +
                       " | " + marked(difference(r)) + " |\n";
    }
    if (const result* r = most_drift(s))
        out += "\nLog-probabilities differ by up to " + six(r->logprobs.largest) + " where the tokens agree (" +
               marked(r->prompt) + ", " + r->cell + "): " + std::to_string(r->logprobs.differing) + " of " +
               std::to_string(r->logprobs.compared) + " positions. It decides nothing, and comes before flips do.\n";
    out += "\nBLEU: " + std::string(upstream::determinism::bleu_signature) + ". Seed " +
           std::to_string(all.about.seed) + ".\n";
    return out;
}

std::string report_junit(const recording& all, const summary& s) {
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"idem eval\">\n";
    for (const cell_result& c : s.cells) {
        std::string cases;
        std::size_t tests = 0, failures = 0;
        for (const result& r : s.results) {
            if (r.cell != c.cell) continue;
            ++tests;
            const std::string name = r.prompt + (r.variant.empty() ? "" : " (" + r.variant + ")");
            cases += "    <testcase classname=\"" + in_markup(c.cell) + "\" name=\"" + in_markup(name) + "\"";
            const bool blind = c.cell == "control" && !s.control_saw;
            if (!bad(r) && !blind && r.runs > 0) {
                cases += "/>\n";
                continue;
            }
            ++failures;
            const std::string what = blind ? "no difference was seen at temperature 1"
                                     : r.runs == 0
                                         ? "no run could be counted"
                                         : std::to_string(r.flips) + " of " + std::to_string(r.runs) + " runs differ";
            cases += ">\n      <failure message=\"" + in_markup(what) + "\">" + in_markup(difference(r)) +
                     "</failure>\n    </testcase>\n";
        }
        out += "  <testsuite name=\"" + in_markup(c.cell) + "\" tests=\"" + std::to_string(tests) + "\" failures=\"" +
               std::to_string(failures) + "\">\n" + cases + "  </testsuite>\n";
    }
    for (const skipped_cell& c : all.about.skipped)
        out += "  <testsuite name=\"" + in_markup(c.cell) +
               "\" tests=\"1\" skipped=\"1\">\n    <testcase classname=\"" + in_markup(c.cell) +
               "\" name=\"all\">\n      <skipped message=\"" + in_markup(c.why) +
               "\"/>\n    </testcase>\n  </testsuite>\n";
    return out + "</testsuites>\n";
}

}  // namespace idem::gateway::eval
