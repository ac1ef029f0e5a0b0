#include "gateway/eval/score.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "gateway/eval/conclude.hpp"
#include "gateway/eval/ladder.hpp"
#include "gateway/eval/plan.hpp"
#include "gateway/eval/reading.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/determinism/compare/pairs.hpp"
#include "upstream/determinism/compare/task.hpp"

namespace idem::gateway::eval {

namespace determinism = upstream::determinism;

namespace {

constexpr std::size_t sampled = 500;
constexpr unsigned bootstrap_rounds = 2000;
constexpr double shown_confidence = 0.95;

struct output {
    std::string normal;
    std::uint64_t runs = 0;
};

// The runs of one result, read.
struct pile {
    std::vector<std::optional<reading>> read;  // nullopt: an error
    std::vector<const run_record*> runs;
    std::uint64_t voided = 0;
};

using name = std::tuple<std::string, std::string, std::string>;  // cell, prompt, variant

// By frequency, the commonest first; of equal ones the smaller text.
std::vector<output> distinct(const pile& p) {
    std::map<std::string, std::uint64_t> count;
    for (const auto& r : p.read)
        if (r) ++count[r->normal];
    std::vector<output> out;
    for (auto& [normal, runs] : count) out.push_back({normal, runs});
    std::ranges::sort(
        out, [](const output& a, const output& b) { return a.runs != b.runs ? a.runs > b.runs : a.normal < b.normal; });
    return out;
}

determinism::drift_of_logprobs drift_in(const pile& p) {
    determinism::drift_of_logprobs most;
    std::map<std::string, determinism::token> known;
    const auto numbers = [&](const reading& r) {
        determinism::token_list out;
        for (const std::string& name : r.token_names) {
            // One name is one token, whatever is in it.
            const auto [at, added] = known.emplace(name, static_cast<determinism::token>(known.size()));
            out.push_back(at->second);
        }
        return out;
    };
    const reading* first = nullptr;
    for (const auto& r : p.read) {
        if (!r || r->logprobs.empty()) continue;
        if (!first) {
            first = &*r;
            continue;
        }
        const auto d = determinism::compare_logprobs(numbers(*first), first->logprobs, numbers(*r), r->logprobs);
        most.compared += d.compared;
        most.differing += d.differing;
        most.largest = std::max(most.largest, d.largest);
        most.mean = std::max(most.mean, d.mean);
    }
    return most;
}

result judge(const name& of, const prompt& asked, const pile& p, const std::string* reference, std::uint64_t seed,
             unsigned threads) {
    result r;
    std::tie(r.cell, r.prompt, r.variant) = of;
    r.voided = p.voided;
    const std::vector<output> outputs = distinct(p);
    std::vector<std::uint64_t> counts;
    for (const output& o : outputs) counts.push_back(o.runs);
    r.spread = determinism::spread_of(counts);
    r.runs = r.spread.runs;
    r.errors = p.read.size() - r.runs;
    if (outputs.empty()) return r;
    const std::string& wanted = reference ? *reference : outputs.front().normal;
    std::set<std::uint64_t> tokens;
    for (std::size_t i = 0; i < p.read.size(); ++i) {
        r.milliseconds.push_back(p.runs[i]->total_ms);
        r.agrees.push_back(p.read[i] && p.read[i]->normal == wanted);
        if (!p.read[i]) continue;
        r.flips += p.read[i]->normal != wanted;
        determinism::cluster& of_one = r.lifetimes[p.runs[i]->lifetime];
        ++of_one.runs;
        of_one.flips += p.read[i]->normal != wanted;
        if (p.read[i]->prompt_tokens > 0) tokens.insert(p.read[i]->prompt_tokens);  // streams may not tell
    }
    r.prompt_drift = tokens.size() > 1;
    r.flip_rate = determinism::wilson(r.flips, r.runs, shown_confidence);
    r.logprobs = drift_in(p);
    for (const output& o : outputs) r.shared = std::max(r.shared, shared_rung(asked, wanted, o.normal));
    if (!asked.check.empty()) {
        r.task_agrees = 0;
        const std::string right = words_of(wanted);
        for (const output& o : outputs)
            if (determinism::same_task(asked.check, right, words_of(o.normal))) *r.task_agrees += o.runs;
    }
    r.output = to_hex(sha256(outputs.front().normal).bytes);
    std::vector<determinism::output_group> groups;
    determinism::vocabulary words;
    std::map<std::string, std::string> text_of;
    for (const auto& each : p.read)
        if (each) text_of.emplace(each->normal, each->text);
    // Outputs that differ in something else than their words are compared whole.
    std::set<std::string_view> texts;
    for (const auto& [normal, text] : text_of) texts.insert(text);
    if (texts.size() < text_of.size())
        for (auto& [normal, text] : text_of) text = normal;
    std::map<std::string, const std::vector<std::int64_t>*> ids_of_output;
    for (const auto& each : p.read)
        if (each) ids_of_output.emplace(each->normal, &each->ids);
    // The engine's own tokens, where they tell all outputs apart.
    std::set<std::vector<std::int64_t>> distinct_ids;
    for (const auto& [normal, ids] : ids_of_output)
        if (!ids->empty()) distinct_ids.insert(*ids);
    r.engine_tokens = distinct_ids.size() == outputs.size();
    for (const output& o : outputs)
        groups.push_back(
            {text_of[o.normal],
             r.engine_tokens ? words.tokens_of(*ids_of_output[o.normal]) : words.tokens_of(text_of[o.normal]), o.runs});
    const determinism::pair_means means = determinism::compare_pairs(groups, sampled, seed, threads);
    r.score = means.tokens;
    r.characters = means.characters;
    r.bleu = means.bleu;
    r.pairs = means.pairs;
    r.sampled_pairs = means.sampled;
    if (outputs.size() > 1) {
        r.parts = determinism::part_of(text_of[outputs[0].normal], text_of[outputs[1].normal]);
        r.first_differs = outputs.size() == 2 && outputs[1].runs == 1 && p.read.front() &&
                          p.read.front()->normal == outputs[1].normal && r.runs > 2;
    } else if (wanted != outputs.front().normal) {
        r.parts = determinism::part_of(words_of(wanted), words_of(outputs.front().normal));
    }
    return r;
}

// By what was read before and after each block, and by what the answers say themselves.
bool environment_changed(const recording& all, const std::map<name, pile>& piles) {
    std::set<std::string> seen, elsewhere;
    // Servers that answer alike may call themselves differently: of each replica by itself.
    std::map<std::string, std::set<std::string>> fingerprints;
    for (const block_record& b : all.blocks) {
        seen.insert({b.environment_before, b.environment_after});
        elsewhere.insert({b.elsewhere_before, b.elsewhere_after});
    }
    for (const std::string none : {"unknown", ""}) {
        seen.erase(none);
        elsewhere.erase(none);
    }
    for (const auto& [of, p] : piles) {
        const bool one_of_many = std::get<0>(of) == to_string(cell::replicas);
        for (const auto& r : p.read)
            if (r && !r->fingerprint.empty())
                fingerprints[one_of_many ? std::get<2>(of) : std::string()].insert(r->fingerprint);
    }
    return seen.size() > 1 || elsewhere.size() > 1 ||
           std::ranges::any_of(fingerprints, [](const auto& of) { return of.second.size() > 1; });
}

std::map<name, pile> sort_runs(const recording& all) {
    std::map<std::string, std::string> path_of;
    for (const prompt& p : all.about.prompts) path_of[p.id] = p.path;
    const std::set<unsigned> sound = sound_blocks(all);
    std::map<name, pile> piles;
    for (const run_record& r : all.runs) {
        pile& p = piles[{r.cell, r.prompt, r.variant}];
        if (!sound.contains(r.block)) {
            ++p.voided;
            continue;
        }
        p.runs.push_back(&r);
    }
    for (auto& [of, p] : piles) {
        std::ranges::sort(p.runs, {}, &run_record::run);
        for (const run_record* r : p.runs) p.read.push_back(read_run(*r, path_of[std::get<1>(of)]));
    }
    return piles;
}

struct reference {
    std::string output;
    name from;
};

// What a prompt's greedy runs have to give, wherever they are made.
std::map<std::string, reference> references(const std::map<name, pile>& piles) {
    std::map<std::string, reference> out;
    for (const cell c : every_cell) {
        if (!must_agree(c)) continue;
        for (const auto& [of, p] : piles) {
            const auto& [in, asked, variant] = of;
            if (in != to_string(c) || variant == "seeded" || out.contains(asked)) continue;
            if (const auto outputs = distinct(p); !outputs.empty()) out[asked] = {outputs.front().normal, of};
        }
    }
    return out;
}

}  // namespace

std::set<unsigned> sound_blocks(const recording& all) {
    std::set<unsigned> out;
    for (const block_record& b : all.blocks)
        if (b.environment_before == b.environment_after && b.elsewhere_before == b.elsewhere_after) out.insert(b.block);
    return out;
}

summary summarise(const recording& all, unsigned threads) {
    summary s;
    s.p_max = all.about.p_max;
    s.confidence = all.about.confidence;
    s.torn = all.torn;
    const std::map<name, pile> piles = sort_runs(all);
    const auto wanted = references(piles);
    std::size_t judged_cells = 0;
    for (const std::string& c : all.about.cells) judged_cells += c != to_string(cell::control);
    const double confidence = determinism::corrected(s.confidence, judged_cells);
    for (const std::string& name_of_cell : all.about.cells) {
        cell_result c;
        c.cell = name_of_cell;
        const bool control = name_of_cell == to_string(cell::control);
        std::uint64_t most = 0;
        const std::size_t from = s.results.size();
        std::map<unsigned, bool> lifetimes;  // whether one flipped
        for (const auto& [of, p] : piles) {
            if (std::get<0>(of) != name_of_cell) continue;
            const auto reference = wanted.find(std::get<1>(of));
            const bool own = control || std::get<2>(of) == "seeded" || reference == wanted.end();
            const auto asked = std::ranges::find(all.about.prompts, std::get<1>(of), &prompt::id);
            result r = judge(of, asked == all.about.prompts.end() ? prompt{} : *asked, p,
                             own ? nullptr : &reference->second.output, all.about.seed, threads);
            // The run that is the reference is compared with nothing.
            const std::uint64_t itself = own || reference->second.from == of ? 1 : 0;
            r.bound = determinism::upper_bound(r.flips, r.runs > itself ? r.runs - itself : 0, confidence);
            c.runs += r.runs;
            c.errors += r.errors;
            c.flips += r.flips;
            for (const auto& [lifetime, of_one] : r.lifetimes)
                lifetimes[lifetime] = lifetimes[lifetime] || of_one.flips > 0;
            c.score = std::min(c.score, r.score);
            s.voided += r.voided;
            most = std::max(most, r.runs);
            if (control) {
                s.control_saw = s.control_saw || r.spread.unique > 1;
            } else {
                s.drift = s.drift || r.prompt_drift;
            }
            s.results.push_back(std::move(r));
        }
        std::vector<determinism::cluster> clusters;
        for (std::size_t i = from; i < s.results.size(); ++i)
            for (const auto& [lifetime, of_one] : s.results[i].lifetimes) clusters.push_back(of_one);
        c.flip_rate = determinism::cluster_bootstrap(clusters, shown_confidence, bootstrap_rounds, all.about.seed);
        c.lifetimes = lifetimes.size();
        c.flipped_lifetimes =
            static_cast<std::uint64_t>(std::ranges::count_if(lifetimes, [](const auto& one) { return one.second; }));
        c.lifetime_bound = determinism::upper_bound(c.flipped_lifetimes, c.lifetimes, confidence);
        c.bound = most == 0 ? 1 : 0;
        for (std::size_t i = from; i < s.results.size(); ++i)
            if (s.results[i].runs == most || s.results[i].flips > 0) c.bound = std::max(c.bound, s.results[i].bound);
        for (const block_record& b : all.blocks) {
            if (b.cell != name_of_cell) continue;
            c.peak_running = std::max(c.peak_running, b.peak_running);
            c.peak_in_flight = std::max(c.peak_in_flight, b.peak_in_flight);
            ++c.blocks;
            c.crowded_blocks += b.peak_running >= 2;
            c.others_answered += b.others_answered;
            c.others_failed += b.others_failed;
        }
        c.deterministic = c.flips == 0 && c.runs > 0;
        if (!control) {
            s.score = std::min(s.score, c.score);
            s.bound = s.cells.empty() ? c.bound : std::max(s.bound, c.bound);
        }
        s.runs += c.runs;
        s.errors += c.errors;
        s.cells.push_back(std::move(c));
    }
    conclude(s, all, environment_changed(all, piles));
    return s;
}

std::map<std::string, std::string> reference_outputs(const recording& all) {
    std::map<std::string, std::string> out;
    for (auto& [asked, wanted] : references(sort_runs(all))) out[asked] = wanted.output;
    return out;
}

}  // namespace idem::gateway::eval
