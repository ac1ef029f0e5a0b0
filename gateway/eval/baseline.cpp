#include "gateway/eval/baseline.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "gateway/eval/plan.hpp"
#include "gateway/eval/report.hpp"

namespace idem::gateway::eval {

namespace json = boost::json;
namespace determinism = upstream::determinism;

baseline freeze(const recording& all) {
    return {all.about, reference_outputs(all)};
}

std::string to_json(const baseline& b) {
    json::object outputs;
    for (const auto& [prompt_id, output] : b.outputs) outputs[prompt_id] = output;
    boost::system::error_code ec;
    return json::serialize(json::object{{"baseline", record_version},
                                        {"manifest", json::parse(to_json(b.about), ec)},
                                        {"outputs", std::move(outputs)}}) +
           "\n";
}

bool read_baseline(std::string_view text, baseline& into, std::string& error) {
    boost::system::error_code ec;
    const json::value v = json::parse(text, ec);
    const json::object* o = ec ? nullptr : v.if_object();
    const json::value* about = o ? o->if_contains("manifest") : nullptr;
    const json::value* outputs = o ? o->if_contains("outputs") : nullptr;
    if (!about || !outputs || !outputs->is_object() || !o->contains("baseline")) {
        error = "not a baseline: expected what `idem eval baseline` writes";
        return false;
    }
    if (!read_manifest(json::serialize(*about), into.about, error)) return false;
    for (const auto& [id, output] : outputs->get_object())
        if (output.is_string()) into.outputs.emplace(id, output.get_string());
    return true;
}

namespace {

prompt prompt_of(const manifest& of, const std::string& id) {
    const auto at = std::ranges::find(of.prompts, id, &prompt::id);
    return at == of.prompts.end() ? prompt{} : *at;
}

}  // namespace

void hold_to(const baseline& b, const recording& all, summary& s, const meaning_judge& means) {
    if (b.about.environment != all.about.environment) {
        s.reasons.push_back("The environment is not the baseline's: " + all.about.environment + ", it was " +
                            b.about.environment + ".");
        if (s.says == verdict::deterministic) s.says = verdict::environment_changed;
    }
    const baseline now = freeze(all);
    std::size_t others = 0;
    for (const auto& [id, output] : b.outputs) {
        const auto at = now.outputs.find(id);
        if (at == now.outputs.end()) {
            s.reasons.push_back("The baseline's prompt \"" + id + "\" was not answered.");
            if (s.says == verdict::deterministic) s.says = verdict::not_enough;
        } else if (at->second != output) {
            ++others;
            s.reasons.push_back("The answer to \"" + id + "\" is another than the baseline's; both share: " +
                                std::string(to_string(shared_rung(prompt_of(b.about, id), output, at->second, means))) +
                                ".");
        }
    }
    if (others > 0 && s.says == verdict::deterministic) s.says = verdict::other_answers;
}

comparison compare(const recording& before, const recording& after, const meaning_judge& means) {
    comparison out;
    const summary a = summarise(before, 1), b = summarise(after, 1);
    std::vector<std::pair<const cell_result*, const cell_result*>> both;
    for (const cell_result& x : a.cells)
        for (const cell_result& y : b.cells)
            if (x.cell == y.cell && x.cell != to_string(cell::control)) both.emplace_back(&x, &y);
    const double level = 1 - determinism::corrected(0.95, both.size());
    out.text =
        "| cell | flips before | flips after | score before | score after | p (Fisher) "
        "|\n|---|---:|---:|---:|---:|---:|\n";
    for (const auto& [x, y] : both) {
        const double p =
            x->runs > 0 && y->runs > 0 ? determinism::fisher_exact(x->flips, x->runs, y->flips, y->runs) : 1;
        out.same = out.same && p >= level;
        out.text += "| " + x->cell + " | " + std::to_string(x->flips) + " of " + std::to_string(x->runs) + " | " +
                    std::to_string(y->flips) + " of " + std::to_string(y->runs) + " | " + six(x->score) + " | " +
                    six(y->score) + " | " + six(p) + (p < level ? " ❌" : "") + " |\n";
    }
    const std::string was = before.about.environment, is = after.about.environment;
    out.text += "\nEnvironment: " + (was == is ? "the same, " + was : was + ", then " + is) + ".\n";
    const auto old_answers = freeze(before).outputs, new_answers = freeze(after).outputs;
    std::size_t common = 0, others = 0;
    for (const auto& [id, output] : old_answers) {
        const auto at = new_answers.find(id);
        if (at == new_answers.end()) continue;
        ++common;
        if (at->second == output) continue;
        ++others;
        out.text += "- \"" + id + "\": another answer; both share: " +
                    std::string(to_string(shared_rung(prompt_of(before.about, id), output, at->second, means))) + ".\n";
    }
    out.same = out.same && others == 0;
    out.text += std::to_string(common - others) + " of " + std::to_string(common) + " prompts have the same answer.\n";
    return out;
}

}  // namespace idem::gateway::eval
