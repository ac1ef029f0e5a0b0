#include "gateway/cli/eval.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>

#include "gateway/cli/eval_servers.hpp"
#include "gateway/cli/files.hpp"
#include "gateway/cli/version.hpp"
#include "gateway/eval/baseline.hpp"
#include "gateway/eval/plan.hpp"
#include "gateway/eval/prompts.hpp"
#include "gateway/eval/report.hpp"
#include "gateway/eval/runner.hpp"
#include "gateway/eval/token_input.hpp"
#include "upstream/base/digest.hpp"
#include "upstream/determinism/compare/statistics.hpp"

namespace idem::gateway::cli {

namespace {

constexpr unsigned threads = 2;  // for comparing outputs
constexpr int not_measured = static_cast<int>(eval::verdict::not_enough);

int complain(const std::string& why, int status = not_measured) {
    std::cerr << "idem eval: " << why << "\n";
    return status;
}

bool write_file(const std::string& name, const std::string& text) {
    std::ofstream out(name, std::ios::binary);
    out << text << std::flush;
    return static_cast<bool>(out);
}

std::string in_words(double ms) {
    const double s = ms / 1000;
    if (s < 90) return fmt::format("{:.0f} s", s);
    if (s < 5400) return fmt::format("{:.0f} min", s / 60);
    return fmt::format("{:.1f} h", s / 3600);
}

// What is asked for, before the server was seen.
std::string prepare(const eval_action& a, eval::manifest& m, std::vector<eval::cell>& cells) {
    m.idem = version();
    m.model = a.model;
    m.preset = a.preset;
    m.input = a.input;
    if (a.input == "tokens" && !eval::takes_tokens(m.engine))
        return "--input tokens: no way is known to have " + m.engine +
               " make token ids and take them; it is with --engine " + std::string(eval::engines_with_tokens);
    m.seed = a.seed.value_or(0);
    if (!a.seed) {
        for (const std::uint8_t byte : random_id().bytes) m.seed = m.seed << 8 | byte;
        m.seed &= 0xffffffffU;  // short enough to be typed
    }
    const bool smoke = a.preset == "smoke", article = a.preset == "article";
    m.p_max = a.p_max.value_or(smoke ? 0.5 : 0.03);
    m.confidence = a.confidence;
    m.started =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    if (a.prompts.empty()) {
        m.prompts = eval::builtin_prompts();
        if (article) std::erase_if(m.prompts, [](const eval::prompt& p) { return p.id != "tie-story"; });
        if (smoke) m.prompts.resize(4);
    } else {
        std::string error;
        const auto text = read_file(a.prompts, error);
        if (!text) return error;
        m.prompts = eval::parse_prompts(*text, error);
        if (!error.empty()) return a.prompts + ": " + error;
    }
    const bool own = !a.prompts.empty();
    for (eval::prompt& p : m.prompts)
        p.runs = a.runs > 0 ? a.runs : smoke ? 10 : article || own || p.kind == eval::near_tie ? 200 : 30;
    if (!a.cells.empty()) {
        for (const std::string& name : a.cells) cells.push_back(*eval::cell_from(name));
    } else if (smoke) {
        cells = {eval::cell::solo_cold, eval::cell::burst};
    } else if (article) {
        cells = {eval::cell::solo_cold, eval::cell::noise};
    } else {
        cells.assign(std::begin(eval::every_cell), std::end(eval::every_cell));
    }
    if (std::ranges::find(cells, eval::cell::control) == cells.end()) cells.push_back(eval::cell::control);
    return {};
}

void announce(const eval::manifest& m, const eval::forecast& ahead) {
    std::string cells;
    for (const std::string& c : m.cells) cells += (cells.empty() ? "" : ", ") + c;
    unsigned least = std::numeric_limits<unsigned>::max(), most = 0;
    for (const eval::prompt& p : m.prompts) {
        least = std::min(least, p.runs);
        most = std::max(most, p.runs);
    }
    namespace determinism = upstream::determinism;
    const double confidence = determinism::corrected(m.confidence, m.cells.size() - 1);
    std::cout << "target  " << m.target << " (" << m.engine << ", " << m.model << ")\n"
              << "cells   " << cells << "\n";
    for (const eval::skipped_cell& s : m.skipped) std::cout << "skipped " << s.cell << ": " << s.why << "\n";
    std::cout << "runs    " << ahead.runs << ": " << m.prompts.size() << " prompts, "
              << (least == most ? "" : std::to_string(least) + " to ") << most << " in each cell, seed " << m.seed
              << "\n"
              << "bound   " << eval::percent(determinism::upper_bound(0, most - 1, confidence))
              << " at best, with that many runs and no flip\n"
              << "time    about " << in_words(ahead.ms)
              << ", by one call of each prompt; calls beside the runs come on top\n"
              << std::flush;
}

void show(const eval::progress& p) {
    if (!isatty(STDERR_FILENO) || p.planned == 0) return;
    constexpr int wide = 30;
    const double share = static_cast<double>(p.done) / static_cast<double>(p.planned);
    const auto full = static_cast<std::size_t>(share * wide);
    const double left = share > 0 ? static_cast<double>(p.took.count()) * (1 - share) / share : 0;
    std::cerr << "\r[" << std::string(full, '#') << std::string(wide - full, ' ') << "] " << p.done << "/" << p.planned
              << ", " << in_words(left) << " left   " << (p.done == p.planned ? "\n" : "") << std::flush;
}

bool write_reports(const std::string& directory, const eval::recording& all, const eval::summary& s) {
    return write_file(directory + "/report.json", eval::report_json(all, s)) &&
           write_file(directory + "/report.md", eval::report_markdown(all, s)) &&
           write_file(directory + "/report.html", eval::report_html(all, s)) &&
           write_file(directory + "/junit.xml", eval::report_junit(all, s));
}

// Scores what a directory holds, writes the reports beside it, says the verdict.
int conclude(const std::string& directory, const eval::baseline* held_to) {
    eval::recording all;
    std::string error;
    if (!eval::read_directory(directory, all, error)) return complain(error);
    eval::summary s = eval::summarise(all, threads);
    if (s.says == eval::verdict::deterministic && !eval::would_see_a_flip(all)) {
        s.says = eval::verdict::not_enough;
        s.reasons.emplace_back("A flip that was written into the records was not found, so nothing is proven.");
    }
    if (held_to) eval::hold_to(*held_to, all, s);
    if (!write_reports(directory, all, s)) return complain("cannot write the reports into " + directory);
    std::cout << "\n"
              << eval::report_markdown(all, s) << "\nReports: " << directory
              << "/report.html, report.md, report.json, junit.xml\n"
              << std::flush;
    return static_cast<int>(s.says);
}

int measure(const eval_action& a, eval::run_settings settings, eval::manifest m, std::vector<eval::cell> cells,
            const eval::baseline* held_to) {
    settings.budget = a.budget;
    settings.restart = a.restart;
    settings.restart_limit = a.restart_limit;
    settings.directory = a.out.empty() ? "idem-eval" : a.out;
    settings.resume = a.resume;
    if (!a.resume && std::filesystem::exists(settings.directory + "/runs.jsonl")) {
        return complain(
            settings.directory +
                " holds an evaluation already; go on with it (the same --target or --upstream, --out and --resume, "
                "nothing else), or name another directory with --out",
            2);
    }
    std::error_code ec;
    std::filesystem::create_directories(settings.directory, ec);
    if (ec) return complain("cannot make " + settings.directory + ": " + ec.message(), 2);
    const eval::outcome end = eval::run(settings, m, std::move(cells), announce, show);
    if (!end.error.empty()) return complain(end.error);
    if (!end.broken_off.empty()) std::cout << "\nBroken off after " << end.runs << " runs: " << end.broken_off << "\n";
    if (end.interrupted) std::cout << "\nInterrupted after " << end.runs << " runs; the report is of these.\n";
    return conclude(settings.directory, held_to);
}

int compare(const eval_action& a) {
    eval::recording before, after;
    std::string error;
    if (!eval::read_directory(a.directory, before, error)) return complain(a.directory + ": " + error);
    if (!eval::read_directory(a.other, after, error)) return complain(a.other + ": " + error);
    const eval::comparison c = eval::compare(before, after);
    std::cout << c.text << std::flush;
    return c.same ? 0 : 1;
}

int freeze(const eval_action& a) {
    eval::recording all;
    std::string error;
    if (!eval::read_directory(a.directory, all, error)) return complain(error);
    const eval::summary s = eval::summarise(all, threads);
    if (s.says != eval::verdict::deterministic)
        return complain("only a deterministic evaluation can be a baseline; this one is: " +
                        std::string(to_string(s.says)));
    const std::string file = a.out.empty() ? a.directory + "/baseline.json" : a.out;
    if (!write_file(file, to_json(eval::freeze(all)))) return complain("cannot write " + file);
    std::cout << file << "\n" << std::flush;
    return 0;
}

int gate(const eval_action& a) {
    std::string error;
    eval::baseline held_to;
    const auto text = read_file(a.baseline, error);
    if (!text) return complain(error, 2);
    if (!eval::read_baseline(*text, held_to, error)) return complain(a.baseline + ": " + error, 2);
    eval::manifest m = held_to.about;
    eval::run_settings settings;
    if (error = find_servers(a, m, settings); !error.empty()) return complain(error, 2);
    m.idem = version();
    m.environment.clear();
    m.facts.clear();
    m.skipped.clear();
    std::vector<eval::cell> cells;
    for (const std::string& name : m.cells)
        if (const auto c = eval::cell_from(name)) cells.push_back(*c);
    return measure(a, std::move(settings), std::move(m), std::move(cells), &held_to);
}

int resume(eval_action a) {
    eval::recording before;
    std::string error;
    if (!eval::read_directory(a.out.empty() ? "idem-eval" : a.out, before, error)) return complain(error, 2);
    eval::manifest& was = before.about;
    a.gateway = was.gateway;
    for (std::size_t i = 1; a.upstream.empty() && i < was.replicas.size(); ++i)
        a.replicas.push_back(was.replicas[i].url);
    eval::manifest is;
    eval::run_settings settings;
    if (error = find_servers(a, is, settings); !error.empty()) return complain(error, 2);
    if (was.upstream != is.upstream)
        return complain("the evaluation there is " +
                            (was.upstream.empty() ? "of a --target" : "of --upstream " + was.upstream) + ", not this",
                        2);
    if (was.target != is.target)
        return complain("the evaluation there is of " + was.target + ", not of " + is.target, 2);
    if (!std::ranges::equal(was.replicas, is.replicas, {}, &eval::server::url, &eval::server::url))
        return complain("the evaluation there is of other replicas than the upstream has now", 2);
    std::vector<eval::cell> cells;
    for (const std::string& name : was.cells)
        if (const auto c = eval::cell_from(name)) cells.push_back(*c);
    if (a.restart.empty() && std::ranges::find(cells, eval::cell::restart) != cells.end())
        return complain("the evaluation there starts the server anew; say how, with --restart-command", 2);
    return measure(a, std::move(settings), std::move(was), std::move(cells), nullptr);
}

}  // namespace

int run_eval(const eval_action& a) {
    switch (a.what) {
        case eval_action::task::report:
            return conclude(a.directory, nullptr);
        case eval_action::task::compare:
            return compare(a);
        case eval_action::task::baseline:
            return freeze(a);
        case eval_action::task::gate:
            return gate(a);
        case eval_action::task::run:
            break;
    }
    if (a.resume) return resume(a);
    eval::manifest m;
    m.engine = a.engine;
    eval::run_settings settings;
    std::vector<eval::cell> cells;
    if (const std::string error = find_servers(a, m, settings); !error.empty()) return complain(error, 2);
    if (const std::string error = prepare(a, m, cells); !error.empty()) return complain(error, 2);
    return measure(a, std::move(settings), std::move(m), std::move(cells), nullptr);
}

}  // namespace idem::gateway::cli
