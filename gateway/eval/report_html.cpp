#include <fmt/format.h>
#include <algorithm>

#include "gateway/eval/report.hpp"
#include "upstream/determinism/compare/bleu.hpp"

namespace idem::gateway::eval {

namespace {

constexpr std::string_view style = R"(
:root{color-scheme:light dark;--ink:#1d2330;--soft:#5b6474;--paper:#fff;--line:#d8dde6;--good:#137a4b;--bad:#b3261e;--bar:#3b6fd4}
@media(prefers-color-scheme:dark){:root{--ink:#e8ebf2;--soft:#a3acbd;--paper:#12151c;--line:#2d3443;--good:#4cc38a;--bad:#ff8a80;--bar:#7aa2ff}}
*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:1.5rem 1rem 4rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}p{margin:.3rem 0;overflow-wrap:anywhere}.soft{color:var(--soft)}
.good{color:var(--good)}.bad{color:var(--bad)}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th{font-weight:600;color:var(--soft)}th:first-child,td:first-child,th.text,td.text{text-align:left}td.text{white-space:normal;overflow-wrap:anywhere;min-width:14rem}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1.2rem}figure{margin:0}figcaption{color:var(--soft);font-size:.9rem}
svg{width:100%;height:auto;display:block}svg text{fill:var(--soft);font-size:11px}.axis{stroke:var(--line)}.curve{fill:none;stroke:var(--bar);stroke-width:1.5}.bar{fill:var(--bar)}.miss{fill:var(--bad)}
code{overflow-wrap:anywhere}
)";

constexpr double width = 420, height = 150, left = 44, bottom = 22, top = 8;

std::string frame(std::string_view title, std::string_view inside, std::string_view low, std::string_view high,
                  std::string_view begin, std::string_view end) {
    return fmt::format(
        R"(<figure><svg viewBox="0 0 {0} {1}" role="img" aria-label="{2}"><line class="axis" x1="{3}" y1="{4}" x2="{0}" y2="{4}"/><line class="axis" x1="{3}" y1="{5}" x2="{3}" y2="{4}"/><text x="2" y="{6}">{7}</text><text x="2" y="{4}">{8}</text><text x="{3}" y="{12}">{9}</text><text x="{0}" y="{12}" text-anchor="end">{10}</text>{11}</svg><figcaption>{2}</figcaption></figure>)",
        width, height, in_markup(title), left, height - bottom, top, top + 10, high, low, begin, end, inside,
        height - 6);  // with room for what hangs below the line
}

double x_of(double share) {
    return left + share * (width - left - 6);
}
double y_of(double share) {
    return height - bottom - share * (height - bottom - top);
}

std::string curve(const std::vector<double>& values, double low, double high) {
    std::string points;
    const double span = high > low ? high - low : 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = values.size() > 1 ? static_cast<double>(i) / static_cast<double>(values.size() - 1) : 0;
        points += fmt::format("{:.1f},{:.1f} ", x_of(x), y_of((values[i] - low) / span));
    }
    return "<polyline class=\"curve\" points=\"" + points + "\"/>";
}

// The share of runs so far that gave the reference, over all results of a cell in the order of their runs.
std::string running_score(const summary& s) {
    std::string out;
    for (const cell_result& c : s.cells) {
        if (c.cell == "control") continue;
        std::vector<double> shares;
        std::size_t longest = 0, seen = 0, good = 0;
        for (const result& r : s.results)
            if (r.cell == c.cell) longest = std::max(longest, r.agrees.size());
        for (std::size_t i = 0; i < longest; ++i) {
            for (const result& r : s.results) {
                if (r.cell != c.cell || i >= r.agrees.size()) continue;
                ++seen;
                good += r.agrees[i];
            }
            shares.push_back(static_cast<double>(good) / static_cast<double>(seen));
        }
        const double low = shares.empty() ? 0 : std::min(0.9, *std::ranges::min_element(shares));
        out += frame(c.cell + ": share of runs that gave the reference, so far", curve(shares, low, 1),
                     fmt::format("{:.2f}", low), "1.00", "run 1", fmt::format("run {}", shares.size()));
    }
    return out;
}

std::string bars(const std::vector<std::uint64_t>& counts, bool bad) {
    const std::uint64_t most = counts.empty() ? 0 : *std::ranges::max_element(counts);
    std::string out;
    for (std::size_t i = 0; i < counts.size() && most > 0; ++i) {
        if (counts[i] == 0) continue;
        const double share = static_cast<double>(counts[i]) / static_cast<double>(most);
        const double each = (width - left - 6) / static_cast<double>(counts.size());
        out += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                           bad ? "miss" : "bar", left + each * static_cast<double>(i), y_of(share),
                           std::max(each - 1, 1.0), share * (height - bottom - top));
    }
    return out;
}

// How alike the outputs of each cell are, at worst.
std::string similarities(const summary& s) {
    std::vector<const cell_result*> cells;
    for (const cell_result& c : s.cells)
        if (c.cell != "control") cells.push_back(&c);
    std::string inside;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const double each = (width - left - 6) / static_cast<double>(cells.size());
        const double x = left + each * static_cast<double>(i);
        inside += fmt::format(
            R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/><text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)",
            cells[i]->deterministic ? "bar" : "miss", x + 4, y_of(cells[i]->score), each - 8,
            cells[i]->score * (height - bottom - top), x + each / 2, height - bottom + 14, in_markup(cells[i]->cell));
    }
    return frame("score of each cell: its worst prompt's edit similarity", inside, "0", "1", "", "");
}

// How many results part in each twentieth of the longest distance.
std::string divergences(const summary& s) {
    std::size_t furthest = 0, number = 0;
    for (const result& r : s.results)
        if (r.cell != "control" && r.parts) furthest = std::max(furthest, r.parts->token), ++number;
    if (number == 0) return {};
    std::vector<std::uint64_t> counts(20);
    for (const result& r : s.results)
        if (r.cell != "control" && r.parts) ++counts[std::min<std::size_t>(19, r.parts->token * 20 / (furthest + 1))];
    return frame("where outputs part: prompts by the token of their first difference", bars(counts, true), "0",
                 std::to_string(*std::ranges::max_element(counts)), "token 0", fmt::format("token {}", furthest));
}

std::string latency(const summary& s) {
    std::vector<double> all;
    for (const result& r : s.results) all.insert(all.end(), r.milliseconds.begin(), r.milliseconds.end());
    if (all.empty()) return {};
    std::ranges::sort(all);
    const double most = all[std::min(all.size() - 1, all.size() * 99 / 100)];
    std::vector<std::uint64_t> counts(30);
    for (const double ms : all)
        ++counts[std::min<std::size_t>(29, static_cast<std::size_t>(most > 0 ? ms / most * 29 : 0))];
    return frame("time of a call, up to the 99th percentile", bars(counts, false), "0",
                 std::to_string(*std::ranges::max_element(counts)), "0 ms", fmt::format("{:.1f} ms", most));
}

std::string row(const result& r) {
    std::string remark;
    const auto add = [&](const std::string& text) { remark += (remark.empty() ? "" : "; ") + text; };
    if (r.first_differs) add("the first run alone differs");
    if (r.prompt_drift) add("prompt drift");
    if (r.parts)
        add(fmt::format("token {}: <code>{}</code> | <code>{}</code>", r.parts->token, in_markup(r.parts->a),
                        in_markup(r.parts->b)));
    const bool bad = r.cell != "control" && r.flips > 0;
    std::string out = fmt::format(
        R"(<tr><td>{}</td><td class="text">{}{}</td><td>{}</td><td>{}</td><td class="{}">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>)",
        in_markup(r.cell), in_markup(r.prompt), r.variant.empty() ? "" : " (" + in_markup(r.variant) + ")", r.runs,
        r.spread.unique, bad ? "bad" : "", r.flips, r.cell != "control" ? range(r.flip_rate) : "", six(r.score),
        six(r.bleu), percent(r.bound), to_string(r.shared));
    // In a line of its own: beside the figures there is no room for it.
    if (!remark.empty()) out += R"(<tr class="soft"><td></td><td class="text" colspan="9">)" + remark + "</td></tr>";
    return out;
}

}  // namespace

std::string report_html(const recording& all, const summary& s) {
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"><title>Determinism of ";
    out += in_markup(all.about.model) + "</title><style>" + std::string(style) + "</style></head><body>\n";
    const bool good = s.says == verdict::deterministic;
    out += fmt::format("<h1 class=\"{}\">{}</h1>", good ? "good" : "bad", in_markup(to_string(s.says)));
    out += fmt::format(
        "<p>Score <strong>{}</strong>; at most {} flips, with {} confidence over all cells; {} runs, {} without a "
        "usable answer, {} void.</p>",
        six(s.score), percent(s.bound), percent(s.confidence), s.runs, s.errors, s.voided);
    out += fmt::format("<p class=\"soft\">{} · {} · {} · seed {} · BLEU {}</p><ul>", in_markup(all.about.target),
                       in_markup(all.about.engine), in_markup(all.about.model), all.about.seed,
                       upstream::determinism::bleu_signature);
    for (const std::string& why : s.reasons) out += "<li>" + in_markup(why) + "</li>";
    out +=
        "</ul>\n<h2>Cells</h2><div class=\"wide\" "
        "tabindex=\"0\"><table><thead><tr><th>cell</th><th>runs</th><th>flips</th><th>share "
        "(bootstrap)</th><th>score</th><th>bound</th><th>in "
        "flight</th><th>in the engine</th></tr></thead><tbody>";
    for (const cell_result& c : s.cells) {
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td "
            "class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            in_markup(c.cell), c.runs, c.flips > 0 && c.cell != "control" ? "bad" : "", c.flips, share(c), six(c.score),
            percent(c.bound), c.peak_in_flight, c.peak_running < 0 ? "not told" : std::to_string(c.peak_running));
    }
    out += "</tbody></table></div>";
    if (const result* r = most_drift(s))
        out += fmt::format(
            "<p>Log-probabilities differ by up to {} where the tokens agree ({}, {}): {} of {} positions. It decides "
            "nothing, and comes before flips do.</p>",
            six(r->logprobs.largest), in_markup(r->prompt), in_markup(r->cell), r->logprobs.differing,
            r->logprobs.compared);
    for (const skipped_cell& c : all.about.skipped)
        out += "<p class=\"soft\">" + in_markup(c.cell) + " was skipped: " + in_markup(c.why) + ".</p>";
    out += "\n<h2>Plots</h2><div class=\"plots\">" + similarities(s) + running_score(s) + divergences(s) + latency(s) +
           "</div>";
    out +=
        "\n<h2>Prompts</h2><div class=\"wide\" "
        "tabindex=\"0\"><table><thead><tr><th>cell</th><th "
        "class=\"text\">prompt</th><th>runs</th><th>outputs</th><th>flips</"
        "th><th>share (Wilson)</th><th>score</th><th>BLEU</th><th>bound</th><th>shared</th></tr></thead>"
        "<tbody>";
    std::vector<const result*> order;
    for (const result& r : s.results) order.push_back(&r);
    // Those with the most flips first; results of one weight keep their order, which is that of their places.
    const auto weight = [](const result* r) { return r->cell == "control" ? 0 : r->flips; };
    std::ranges::sort(order, [&](const result* a, const result* b) {
        return weight(a) != weight(b) ? weight(a) > weight(b) : std::less{}(a, b);
    });
    for (const result* r : order) out += row(*r);
    out += "</tbody></table></div>\n<h2>Environment</h2><p class=\"soft\"><code>" + in_markup(all.about.environment) +
           "</code></p><ul>";
    for (const std::string& f : all.about.facts) out += "<li><code>" + in_markup(f) + "</code></li>";
    return out + "</ul></body></html>\n";
}

}  // namespace idem::gateway::eval
