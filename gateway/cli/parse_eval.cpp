#include "gateway/cli/parse_eval.hpp"

#include <CLI/CLI.hpp>

#include "gateway/cli/parse_parts.hpp"
#include "gateway/config/schema.hpp"
#include "gateway/config/text.hpp"
#include "gateway/eval/plan.hpp"
#include "gateway/eval/restart.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::cli {

struct eval_words {
    eval_action action;
    std::string cells, budget, restart, restart_limit;
};

namespace {

std::vector<std::string_view> cell_names() {
    std::vector<std::string_view> out;
    for (const eval::cell c : eval::every_cell) out.push_back(to_string(c));
    return out;
}

// Where the endpoint is, and who asks.
void add_target(CLI::App& c, eval_words& w) {
    c.add_option("--target", w.action.target, "Endpoint to measure, with or without /v1")->type_name("URL");
    c.add_option("--upstream", w.action.upstream,
                 "In its place: an upstream of the configuration, with its engine, credential and replicas")
        ->type_name("NAME");
    add_file(c, w.action.config);
    c.add_option("--bearer-env", w.action.bearer_env, "Environment variable with the token that it wants")
        ->type_name("NAME");
    c.add_option("--key-header", w.action.key_header,
                 "Field that carries it in place of `Authorization: Bearer`, such as x-api-key")
        ->type_name("NAME");
    c.add_option("--replica", w.action.replicas,
                 "Another server that should answer alike, for the cell replicas; may be repeated")
        ->type_name("URL")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    c.add_option("--gateway", w.action.gateway, "Idem gateway in front of it, for the cell of that name")
        ->type_name("URL");
    c.add_option("--restart-command", w.restart,
                 "Command that starts the server anew and then ends, for the cell restart; no shell reads it")
        ->type_name("COMMAND");
    c.add_option("--restart-timeout", w.restart_limit, "For that command, and for the server to be there again [10m]")
        ->type_name("TIME");
    c.add_option("--out", w.action.out, "Directory for the records and reports [idem-eval]")->type_name("DIR");
}

std::chrono::milliseconds time_of(const std::string& flag, const std::string& text) {
    const auto ms = config::parse_duration(text);
    if (!ms) throw CLI::ValidationError(flag, "\"" + text + "\" is no time, such as 90s, 30m or 2h");
    return *ms;
}

void check(eval_words& w) {
    if (w.action.target.empty() && w.action.upstream.empty()) throw CLI::RequiredError("--target or --upstream");
    if (!w.action.target.empty() && !w.action.upstream.empty())
        throw CLI::ValidationError("--upstream", "names the target, which --target does too");
    if (!w.action.replicas.empty() && !w.action.upstream.empty())
        throw CLI::ValidationError("--replica", "an upstream has its replicas in the configuration");
    w.action.restart = eval::words_of_command(w.restart);
    if (!w.restart.empty() && w.action.restart.empty())
        throw CLI::ValidationError("--restart-command", "is no command, or a quote in it stays open");
    if (!w.restart_limit.empty()) w.action.restart_limit = time_of("--restart-timeout", w.restart_limit);
}

void add_gate(CLI::App& eval, eval_words& w, action& out) {
    auto* gate = add_command(eval, "gate", "Repeat a baseline's evaluation and hold the answers to it");
    gate->add_option("--baseline", w.action.baseline, "What `idem eval baseline` wrote")->type_name("FILE")->required();
    add_target(*gate, w);
    gate->callback([&] {
        check(w);
        w.action.what = eval_action::task::gate;
        out = w.action;
    });
}

}  // namespace

std::shared_ptr<eval_words> add_eval(CLI::App& app, action& out) {
    auto words = std::make_shared<eval_words>();
    eval_words& w = *words;
    auto* c = add_command(app, "eval", "Measure whether an endpoint gives the same answer to the same request");
    c->require_subcommand(0, 1);
    add_target(*c, w);
    c->add_option("--engine", w.action.engine, "What runs there: " + engines())
        ->type_name("ENGINE")
        ->check([](const std::string& e) {
            return upstream::engine::known(e) ? std::string() : "\"" + e + "\" is no engine; known: " + engines();
        });
    c->add_option("--model", w.action.model, "Model to ask; else the first that it lists")->type_name("NAME");
    c->add_option("--prompts", w.action.prompts,
                  "Prompts, one JSON object a line: {\"name\", \"prompt\", \"max_tokens\"} or {\"name\", \"path\", "
                  "\"body\"}; else the built-in ones")
        ->type_name("FILE");
    c->add_option(
         "--preset", w.action.preset,
         "smoke: a few minutes' look; article: one prompt, 200 runs, alone and beside others; gate: 200 runs of "
         "near-tie prompts, 30 of the rest [gate]")
        ->type_name("PRESET")
        ->check(CLI::IsMember({"smoke", "article", "gate"}));
    c->add_option("--input", w.action.input,
                  "tokens: the server makes token ids of each prompt once, and gets these in all runs [text]")
        ->type_name("FORM")
        ->check(CLI::IsMember({"text", "tokens"}));
    c->add_option("--runs", w.action.runs, "Runs of each prompt in each cell; else as the preset says")
        ->type_name("N")
        ->check(CLI::Range(2u, 100'000u));
    c->add_option("--cells", w.cells,
                  "Conditions, with commas: " + listed(cell_names()) + "; the control is always run")
        ->type_name("LIST");
    c->add_option("--budget", w.budget, "Time that it may take, e.g. 30m: fewer runs where it would not do")
        ->type_name("TIME");
    c->add_option("--seed", w.action.seed, "Of the order, the neighbours and the samples; else a random one, recorded")
        ->type_name("N");
    c->add_option("--p-max", w.action.p_max, "Probability of a flip that may not be exceeded [0.03; smoke 0.5]")
        ->type_name("P")
        ->check(CLI::Range(1e-6, 1.0));
    c->add_option("--confidence", w.action.confidence, "Of the bound, over all cells together [0.95]")
        ->type_name("P")
        ->check(CLI::Range(0.5, 0.999999));
    c->add_flag("--resume", w.action.resume, "Go on with the evaluation in --out, as it was asked for");
    auto* report = add_command(*c, "report", "Make the reports of an evaluation anew from what it recorded");
    report->add_option("directory", w.action.directory, "Where it was written")->type_name("DIR")->required();
    report->callback([&] {
        w.action.what = eval_action::task::report;
        out = w.action;
    });
    auto* compare = add_command(*c, "compare", "Set two evaluations side by side: flips of each cell, and answers");
    compare->add_option("before", w.action.directory, "Where the first was written")->type_name("DIR")->required();
    compare->add_option("after", w.action.other, "Where the second was written")->type_name("DIR")->required();
    compare->callback([&] {
        w.action.what = eval_action::task::compare;
        out = w.action;
    });
    auto* freeze = add_command(*c, "baseline", "Freeze the answers of an evaluation, for `idem eval gate`");
    freeze->add_option("directory", w.action.directory, "Where it was written")->type_name("DIR")->required();
    freeze->add_option("--out", w.action.out, "File to write [DIR/baseline.json]")->type_name("FILE");
    freeze->callback([&] {
        w.action.what = eval_action::task::baseline;
        out = w.action;
    });
    add_gate(*c, w, out);
    c->callback([&, c] {
        if (!c->get_subcommands().empty()) return;
        check(w);
        w.action.what = eval_action::task::run;
        if (!w.action.upstream.empty() && c->count("--engine") > 0)
            throw CLI::ValidationError("--engine", "an upstream has its engine in the configuration");
        for (const auto* flag : {"--gateway", "--replica", "--engine", "--model", "--prompts", "--preset", "--input",
                                 "--runs", "--cells", "--seed", "--p-max", "--confidence"})
            if (w.action.resume && c->count(flag) > 0)
                throw CLI::ValidationError("--resume", std::string("goes on as it was asked for, without ") + flag);
        for (const std::string_view name : config::split(w.cells, ',')) {
            if (w.cells.empty()) break;
            if (!eval::cell_from(name))
                throw CLI::ValidationError(
                    "--cells", "there is no cell \"" + std::string(name) + "\"; known: " + listed(cell_names()));
            w.action.cells.emplace_back(name);
        }
        if (!w.budget.empty()) w.action.budget = time_of("--budget", w.budget);
        out = w.action;
    });
    return words;
}

}  // namespace idem::gateway::cli
