#include "gateway/eval/score.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>
#include <tuple>

#include "gateway/eval/plan.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/determinism/compare/pairs.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::gateway::eval {

namespace determinism = upstream::determinism;
namespace dialect = upstream::dialect;
namespace json = boost::json;

namespace {

constexpr std::size_t sampled = 500;

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

// The words of a normalised output, which is JSON of the dialect's own making.
void collect(const json::value& v, std::string_view key, std::string& into) {
    constexpr std::string_view words[] = {"content", "text", "reasoning", "reasoning_content", "thinking",
                                          "refusal", "name", "arguments", "response"};
    if (v.is_string() && std::ranges::find(words, key) != std::end(words)) {
        into += std::string_view(v.get_string());
        into += '\n';
    } else if (v.is_array()) {
        for (const json::value& each : v.get_array()) collect(each, key, into);
    } else if (v.is_object()) {
        for (const auto& [name, each] : v.get_object()) collect(each, name, into);
    }
}

std::string words_of(const std::string& normal) {
    boost::system::error_code ec;
    const json::value v = json::parse(normal, ec);
    std::string out;
    if (!ec) collect(v, {}, out);
    return out.empty() ? normal : out;
}

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

result judge(const name& of, const pile& p, const std::string* reference, std::uint64_t seed, unsigned threads) {
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
    for (const output& o : outputs) groups.push_back({text_of[o.normal], words.tokens_of(text_of[o.normal]), o.runs});
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

// Prompts of a cell that lack more than one in twenty of the runs that were planned, however well the others did.
std::string starved(const summary& s, std::string_view in, const std::vector<prompt>& prompts) {
    std::string names;
    std::size_t number = 0;
    for (const prompt& p : prompts) {
        std::optional<std::uint64_t> least;  // of the ways in which the cell puts it
        for (const result& r : s.results)
            if (r.cell == in && r.prompt == p.id) least = std::min(least.value_or(r.runs), r.runs);
        const std::uint64_t counted = least.value_or(0);
        if (p.runs == 0 || (counted > 0 && counted * 20 >= std::uint64_t{p.runs} * 19)) continue;
        if (++number <= 3)
            names += (names.empty() ? "\"" : ", \"") + p.id + "\" " + std::to_string(counted) + " of " +
                     std::to_string(p.runs);
    }
    if (number == 0) return {};
    return std::string(in) + ": " + std::to_string(number) + (number == 1 ? " prompt has" : " prompts have") +
           " fewer runs that count than were planned: " + names + (number > 3 ? ", …." : ".");
}

void conclude(summary& s, const recording& all, bool changed) {
    const auto say = [&](std::string what) { s.reasons.push_back(std::move(what)); };
    std::vector<std::string> lacking;
    bool flips = false;
    // An engine that says that it has one slot need not be seen to work on two calls.
    const bool one_slot =
        std::ranges::any_of(all.about.facts, [](const std::string& f) { return f.starts_with("slots=1 "); });
    for (const cell_result& c : s.cells) {
        if (c.cell == to_string(cell::control)) continue;
        if (c.flips > 0) {
            flips = true;
            say(c.cell + ": " + std::to_string(c.flips) + " of " + std::to_string(c.runs) +
                " runs gave another output than the prompt's reference.");
        }
        if (c.runs == 0) lacking.push_back(c.cell + ": no run could be counted.");
        if (std::string why = starved(s, c.cell, all.about.prompts); !why.empty()) lacking.push_back(std::move(why));
        if (c.errors * 20 > c.runs + c.errors)
            lacking.push_back(c.cell + ": " + std::to_string(c.errors) + " calls got no usable answer, more than 5 %.");
        if (c.runs > 0 && c.flips == 0 && c.bound > s.p_max) {
            lacking.push_back(c.cell + ": the upper bound of a flip's probability is " + std::to_string(c.bound) +
                              ", above " + std::to_string(s.p_max) + ": more runs are needed.");
        }
        const bool crowded = c.cell == to_string(cell::burst) || c.cell == to_string(cell::noise);
        if (crowded && !one_slot && c.peak_running >= 0 && c.crowded_blocks * 2 < c.blocks) {
            lacking.push_back(c.cell + ": by its own count the engine worked on two calls at once in " +
                              std::to_string(c.crowded_blocks) + " of " + std::to_string(c.blocks) + " blocks only.");
        }
        const bool beside =
            c.cell == to_string(cell::history) || c.cell == to_string(cell::noise) || c.cell == to_string(cell::prefix);
        if (beside && c.others_answered <= c.others_failed) {
            lacking.push_back(c.cell + ": of the calls beside the runs " + std::to_string(c.others_answered) +
                              " were answered and " + std::to_string(c.others_failed) + " were not.");
        }
    }
    for (const cell_result& c : s.cells)
        if (c.cell == to_string(cell::restart) && c.runs > 0)
            say("restart: " + std::to_string(c.flipped_lifetimes) + " of " + std::to_string(c.lifetimes) +
                " lifetimes had another output; the runs of one are not independent, and of lifetimes alone the upper "
                "bound is " +
                std::to_string(c.lifetime_bound) + ".");
    for (const server& r : all.about.replicas)
        if (r.environment != all.about.environment)
            say("The replica " + r.id + " has another environment than the target.");
    if (s.drift)
        say("The number of prompt tokens of one prompt changed: a template that reads the clock, or another tokenizer "
            "(prompt drift).");
    if (!s.control_saw)
        lacking.emplace_back(
            "The control saw no difference at temperature 1 with differing seeds, so a flip might not be seen either.");
    if (changed) {
        say("The environment changed while it was measured.");
        s.says = verdict::environment_changed;
    } else if (flips) {
        s.says = verdict::flips;
    } else if (!lacking.empty()) {
        s.says = verdict::not_enough;
    } else {
        s.says = verdict::deterministic;
        say("Every prompt gave one output in every cell.");
    }
    for (std::string& why : lacking) say(std::move(why));
}

}  // namespace

std::set<unsigned> sound_blocks(const recording& all) {
    std::set<unsigned> out;
    for (const block_record& b : all.blocks)
        if (b.environment_before == b.environment_after && b.elsewhere_before == b.elsewhere_after) out.insert(b.block);
    return out;
}

std::string_view to_string(verdict v) noexcept {
    switch (v) {
        case verdict::deterministic:
            return "deterministic";
        case verdict::flips:
            return "flips";
        case verdict::not_enough:
            return "not enough evidence";
        case verdict::environment_changed:
            return "environment changed";
        case verdict::other_answers:
            break;
    }
    return "deterministic, other answers than the baseline";
}

std::optional<reading> read_run(const run_record& r, std::string_view path) {
    if (r.status != 200 || !r.error.empty()) return std::nullopt;
    const dialect::dialect* api = dialect::find("POST", path);
    if (!api) return std::nullopt;
    const dialect::form form = r.form == "sse" ? dialect::form::sse : dialect::form::json;
    dialect::call c;
    c.wanted = form;
    c.limit_set = true;
    const auto watcher = api->watch(form, c);
    watcher->feed(r.body);
    const dialect::verdict v = watcher->finish(true);
    if (v.refuse != reason::none) return std::nullopt;
    auto normal = v.normalised ? v.normalised : api->normalised(form, r.body);
    if (!normal) return std::nullopt;
    reading out;
    out.prompt_tokens = v.tokens ? v.tokens->input : 0;
    out.fingerprint = v.fingerprint;
    out.text = words_of(*normal);
    out.normal = std::move(*normal);
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
            result r = judge(of, p, own ? nullptr : &reference->second.output, all.about.seed, threads);
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
