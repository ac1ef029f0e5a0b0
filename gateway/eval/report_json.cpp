#include <fmt/format.h>
#include <boost/json.hpp>

#include "gateway/eval/report.hpp"
#include "upstream/determinism/compare/bleu.hpp"

namespace idem::gateway::eval {

namespace json = boost::json;

std::string six(double value) {
    return fmt::format("{:.6f}", value);
}

std::string percent(double share) {
    return fmt::format("{:.2f} %", share * 100);
}

std::string range(upstream::determinism::interval of) {
    return percent(of.low) + " to " + percent(of.high);
}

std::string share(const cell_result& c) {
    return c.cell == "control" || c.flips == 0 ? "" : range(c.flip_rate);
}

const result* most_drift(const summary& s) {
    const result* most = nullptr;
    for (const result& r : s.results)
        if (r.cell != "control" && r.logprobs.differing > 0 && (!most || r.logprobs.largest > most->logprobs.largest))
            most = &r;
    return most;
}

namespace {

json::object of(const result& r) {
    json::object o{{"cell", r.cell},
                   {"prompt", r.prompt},
                   {"variant", r.variant},
                   {"runs", r.runs},
                   {"errors", r.errors},
                   {"voided", r.voided},
                   {"unique", r.spread.unique},
                   {"flips", r.flips},
                   {"score", r.score},
                   {"characters", r.characters},
                   {"bleu", r.bleu},
                   {"tokens", r.engine_tokens ? "engine" : "words"},
                   {"pairs", r.pairs},
                   {"sampled_pairs", r.sampled_pairs},
                   {"modal_share", r.spread.modal_share},
                   {"agreement", r.spread.agreement},
                   {"entropy", r.spread.entropy},
                   {"bound", r.bound},
                   {"wilson", {r.flip_rate.low, r.flip_rate.high}},
                   {"output", r.output},
                   {"first_differs", r.first_differs},
                   {"prompt_drift", r.prompt_drift}};
    if (r.logprobs.compared > 0)
        o["logprobs"] = {{"compared", r.logprobs.compared},
                         {"differing", r.logprobs.differing},
                         {"largest", r.logprobs.largest},
                         {"mean", r.logprobs.mean}};
    o["shared"] = to_string(r.shared);
    if (r.task_agrees) o["task_agrees"] = *r.task_agrees;
    if (r.parts)
        o["first_difference"] =
            json::object{{"byte", r.parts->byte},     {"character", r.parts->character}, {"token", r.parts->token},
                         {"before", r.parts->before}, {"reference", r.parts->a},         {"other", r.parts->b}};
    return o;
}

}  // namespace

std::string report_json(const recording& all, const summary& s) {
    json::array cells, results, reasons, skipped, facts;
    for (const cell_result& c : s.cells) {
        cells.push_back({{"cell", c.cell},
                         {"deterministic", c.deterministic},
                         {"runs", c.runs},
                         {"flips", c.flips},
                         {"errors", c.errors},
                         {"score", c.score},
                         {"bound", c.bound},
                         {"bootstrap", {c.flip_rate.low, c.flip_rate.high}},
                         {"lifetimes", c.lifetimes},
                         {"flipped_lifetimes", c.flipped_lifetimes},
                         {"lifetime_bound", c.lifetime_bound},
                         {"peak_in_flight", c.peak_in_flight},
                         {"blocks", c.blocks},
                         {"crowded_blocks", c.crowded_blocks},
                         {"others_answered", c.others_answered},
                         {"others_failed", c.others_failed},
                         {"peak_running", c.peak_running}});
    }
    for (const result& r : s.results) results.push_back(of(r));
    for (const std::string& why : s.reasons) reasons.emplace_back(why);
    for (const std::string& f : all.about.facts) facts.emplace_back(f);
    for (const skipped_cell& c : all.about.skipped) skipped.push_back({{"cell", c.cell}, {"why", c.why}});
    const json::object o{{"version", record_version},
                         {"verdict", to_string(s.says)},
                         {"exit", static_cast<int>(s.says)},
                         {"reasons", std::move(reasons)},
                         {"score", s.score},
                         {"bound", s.bound},
                         {"p_max", s.p_max},
                         {"confidence", s.confidence},
                         {"runs", s.runs},
                         {"errors", s.errors},
                         {"voided", s.voided},
                         {"control_saw_a_difference", s.control_saw},
                         {"prompt_drift", s.drift},
                         {"torn", s.torn},
                         {"bleu_signature", upstream::determinism::bleu_signature},
                         {"target", all.about.target},
                         {"engine", all.about.engine},
                         {"model", all.about.model},
                         {"preset", all.about.preset},
                         {"input", all.about.input},
                         {"seed", all.about.seed},
                         {"started", all.about.started},
                         {"environment", all.about.environment},
                         {"facts", std::move(facts)},
                         {"skipped", std::move(skipped)},
                         {"cells", std::move(cells)},
                         {"results", std::move(results)}};
    return json::serialize(o) + "\n";
}

}  // namespace idem::gateway::eval
