#include "gateway/cli/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "gateway/cli/completion.hpp"
#include "gateway/cli/parse_cache.hpp"
#include "gateway/cli/parse_eval.hpp"
#include "gateway/cli/parse_evidence.hpp"
#include "gateway/cli/parse_parts.hpp"
#include "gateway/config/schema.hpp"
#include "gateway/config/text.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::cli {

namespace {

// Flags that say where the configuration comes from, as they were written.
struct source_flags {
    std::string file, upstream, engine, listen, admin, data, store, redis;
    std::string named;  // the file, where it stood without its flag
    std::vector<std::string> set;

    [[nodiscard]] config::sources sources() const {
        config::sources s;
        if (!file.empty()) s.file = file;
        if (!file.empty() && !named.empty()) throw CLI::ValidationError(named, "--config names another file");
        if (!named.empty()) s.file = named;
        if (!upstream.empty()) s.upstream = upstream;
        if (!engine.empty()) s.engine = engine;
        const auto put = [&](const std::string& text, const char* path, const char* flag) {
            if (!text.empty()) s.settings.push_back({path, text, flag});
        };
        put(listen, "listen.address", "--listen");
        put(admin, "admin.address", "--admin");
        put(data, "data", "--data");
        if (!redis.empty()) {
            s.settings.push_back({"cache.redis.urls", redis, "--redis"});
            if (store.empty()) s.settings.push_back({"cache.store", "redis", "--redis"});
        }
        put(store, "cache.store", "--store");
        for (const auto& assignment : set) {
            const auto equals = assignment.find('=');
            const auto path = assignment.substr(0, equals);
            s.settings.push_back(
                {path, equals == std::string::npos ? "" : assignment.substr(equals + 1), "--set " + path});
        }
        return s;
    }
};

// Everything that options write into; lives as long as the parser.
struct words {
    source_flags from;
    std::string output = "table", shell, address, listen = "127.0.0.1:8000";
    std::vector<std::string> headers;
    key_action key_;
    explain_action explain_;
    replicas_action replicas_;
    request_flags about;
    upstream::simulate::simulate_options simulated;
    std::uint64_t latency_ms = 0, cut_after = 0;
    double change_after = 0, slow_start = 0;
    bool json = false;
};

void add_flags(CLI::App& app, source_flags& f) {
    app.add_option("--upstream", f.upstream,
                   "Endpoint to stand before, with or without /v1; replaces the file's upstreams")
        ->type_name("URL");
    app.add_option("--engine", f.engine, "What runs there: " + engines())->type_name("ENGINE");
    app.add_option("--listen", f.listen, "Where clients connect [127.0.0.1:8080]")->type_name("A:P");
    app.add_option("--admin", f.admin, "Where the admin API, probes and metrics are [127.0.0.1:8081]")
        ->type_name("A:P");
    app.add_option("--data", f.data, "Directory of everything that is written [idem-data]")->type_name("DIR");
    app.add_option("--store", f.store, "Second tier: memory, embedded or redis [embedded]")->type_name("STORE");
    app.add_option("--redis", f.redis, "Redis to store in; implies --store redis")->type_name("URL");
    app.add_option("--set", f.set, "Any key of the configuration, e.g. --set cache.ttl=7d; may be repeated")
        ->type_name("PATH=VALUE")
        ->allow_extra_args(false)
        ->check([](const std::string& text) {
            return text.find('=') == std::string::npos ? "expected PATH=VALUE" : std::string();
        });
}

void add_sources(CLI::App& app, source_flags& f) {
    add_file(app, f.file);
    add_flags(app, f);
}

// For commands about a file, whose name may stand alone too.
void add_sources_or_file(CLI::App& app, source_flags& f) {
    add_sources(app, f);
    app.add_option("file", f.named, "The same as --config FILE")->type_name("FILE");
}

void add_serve(CLI::App& app, words& w, action& out) {
    auto* c = add_command(app, "serve", "Run the gateway");
    add_sources(*c, w.from);
    c->callback([&] { out = serve_action{w.from.sources()}; });
}

void add_check(CLI::App& app, words& w, action& out) {
    auto* c = add_command(app, "check", "Report every error of the configuration at once");
    add_sources_or_file(*c, w.from);
    add_output(*c, w.output);
    c->callback([&] { out = check_action{w.from.sources(), w.output == "json" ? form::json : form::table}; });
}

void add_config(CLI::App& app, words& w, action& out) {
    auto* c = add_command(app, "config", "Show the configuration, its defaults or its schema");
    c->require_subcommand(1);
    using what = config_action::what;
    auto* effective = add_command(*c, "effective", "What is in force; secrets are masked");
    add_sources_or_file(*effective, w.from);
    effective->callback([&] { out = config_action{what::effective, w.from.sources()}; });
    add_command(*c, "defaults", "A file with every key, its meaning and its default")->callback([&] {
        out = config_action{what::defaults, {}};
    });
    add_command(*c, "schema", "A JSON Schema for editors")->callback([&] { out = config_action{what::schema, {}}; });
    add_command(*c, "reference", "Every key as a Markdown table")->callback([&] {
        out = config_action{what::reference, {}};
    });
}

// Everything of a request but its body.
void add_request(CLI::App& app, words& w) {
    app.add_option("--path", w.about.path, "Path and query [/v1/chat/completions]")->type_name("P");
    app.add_option("--method", w.about.method, "Method [POST]")->type_name("M");
    app.add_option("--header", w.headers,
                   "A header field of the request, e.g. --header 'OpenAI-Beta: x'; may be repeated")
        ->type_name("'K: V'")
        ->allow_extra_args(false)
        ->check([](const std::string& text) {
            return text.find(':') == std::string::npos ? "expected 'NAME: VALUE'" : std::string();
        });
    app.add_option("--sample", w.about.sample, "Number of the sample (Idem-Sample) [0]")->type_name("N");
    add_file(app, w.from.file);
    add_output(app, w.output);
}

request_flags request_of(const words& w) {
    request_flags about = w.about;
    for (const auto& h : w.headers) {
        const auto colon = h.find(':');
        const auto value = h.find_first_not_of(" \t", colon + 1);
        about.headers.emplace_back(h.substr(0, colon), value == std::string::npos ? "" : h.substr(value));
    }
    about.from = w.from.sources();
    about.configured = !w.from.file.empty();
    return about;
}

void add_key(CLI::App& app, words& w, action& out) {
    auto* c = add_command(app, "key", "Print the canonical form and the digest of a request, or why it has none");
    c->add_option("file", w.key_.file, "Request body, - for standard input")->type_name("FILE");
    c->add_flag("--lines", w.key_.lines, "Every line is a body: print a digest or a reason for each");
    add_request(*c, w);
    c->callback([&] {
        key_action k = w.key_;
        k.about = request_of(w);
        k.output = w.output == "json" ? form::json : form::table;
        out = std::move(k);
    });
}

void add_explain(CLI::App& app, words& w, action& out) {
    auto* c = add_command(app, "explain", "Tell whether two requests share a digest and, if not, where they differ");
    c->add_option("a", w.explain_.a, "Body of one request")->type_name("A")->required();
    c->add_option("b", w.explain_.b, "Body of the other; - for standard input")->type_name("B")->required();
    add_request(*c, w);
    c->callback([&] {
        explain_action e = w.explain_;
        e.about = request_of(w);
        e.output = w.output == "json" ? form::json : form::table;
        out = std::move(e);
    });
}

std::chrono::milliseconds seconds(double n) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(n * 1000));
}

void add_simulate(CLI::App& app, words& w, action& out) {
    auto* c = add_command(app, "simulate", "Run a simulated engine, to try Idem without a GPU");
    auto& s = w.simulated;
    const auto probability = CLI::Range(0.0, 1.0);
    c->add_option("--listen", w.listen, "Where it listens [127.0.0.1:8000]")->type_name("A:P");
    c->add_option("--engine", s.engine, "Engine that it plays, by name: " + engines())
        ->type_name("ENGINE")
        ->check([](const std::string& text) {
            return upstream::engine::known(text) ? std::string()
                                                 : "there is no engine \"" + text + "\"; known: " + engines();
        });
    c->add_option("--model", s.model, "Model that it lists; calls may name any")->type_name("NAME");
    c->add_option("--version-string", s.version, "Version in its pages and answers; else the engine's own")
        ->type_name("S");
    c->add_option("--latency", w.latency_ms, "Before the first byte of an answer")->type_name("MS");
    c->add_option("--tokens", s.tokens, "Length of an answer that nothing else limits [32]")->type_name("N");
    c->add_option("--tokens-per-second", s.tokens_per_second, "0: as fast as possible")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber);
    c->add_option("--flip-hazard", s.flip_hazard, "Probability that an answer deviates")
        ->type_name("P")
        ->check(probability);
    c->add_option("--token-hazard", s.token_hazard, "Probability of each token that the answer deviates from there on")
        ->type_name("P")
        ->check(probability);
    c->add_flag("--batch-sensitive", s.batch_sensitive,
                "The text depends on how many calls are being answered; alone it is always the same");
    c->add_flag("--prefix-cache", s.prefix_cache,
                "A prompt's first answer differs from later ones, unless cache_prompt is false or cache_salt is new");
    c->add_flag("--global-rng", s.global_rng, "Above temperature 0 one generator serves all; seeds are ignored");
    c->add_flag("--dated-template", s.dated_template,
                "The chat template writes the time: text and prompt tokens depend on the second");
    auto* change = c->add_option("--change-environment-after", w.change_after,
                                 "From then on versions, fingerprints and texts are another environment's, also those "
                                 "of answers that are under way; POST /simulate/environment does it at once");
    change->type_name("SECONDS")->check(CLI::NonNegativeNumber);
    c->add_option("--slow-start", w.slow_start, "So long it is loading: health checks and calls are answered 503")
        ->type_name("SECONDS")
        ->check(CLI::NonNegativeNumber);
    c->add_option("--error-rate", s.error_rate, "Probability of a 500")->type_name("P")->check(probability);
    auto* cut =
        c->add_option("--cut-after", w.cut_after, "Close the connection after so many bytes of an answer's body")
            ->type_name("BYTES");
    c->add_option("--threads", s.threads, "Threads [1]")->type_name("N")->check(CLI::Range(1u, 256u));
    c->callback([&, cut, change] {
        const auto address = config::parse_address(w.listen);
        if (!address) throw CLI::ValidationError("--listen", "\"" + w.listen + "\" is not ADDRESS:PORT");
        simulate_action made{w.simulated};
        made.options.address = address->host;
        made.options.port = address->port;
        made.options.latency = std::chrono::milliseconds(w.latency_ms);
        if (cut->count() > 0) made.options.cut_after = w.cut_after;
        made.options.slow_start = seconds(w.slow_start);
        if (change->count() > 0) made.options.change_after = seconds(w.change_after);
        out = std::move(made);
    });
}

// For commands that talk to a running gateway.
void add_admin(CLI::App& app, words& w) {
    add_file(app, w.from.file);
    app.add_option("--admin", w.address, "Admin listener of the gateway; else from the configuration")
        ->type_name("A:P");
    app.add_option("--data", w.from.data, "Its data directory, for the token; else from the configuration")
        ->type_name("DIR");
    add_output(app, w.output);
}

void add_replicas(CLI::App& app, words& w, action& out) {
    auto* c = add_command(app, "replicas", "Show the replicas of a running gateway, or order something about one");
    c->require_subcommand(1);
    const std::pair<const char*, const char*> orders[] = {
        {"list", "State, reason, golden runs and environment of every replica"},
        {"attest", "Run the golden prompts now"},
        {"quarantine", "Send it no strict call until it is readmitted"},
        {"readmit", "Look at it anew, and admit it if it is good"},
        {"drain", "Send it nothing until it is readmitted"}};
    for (const auto& [name, help] : orders) {
        const bool list = std::string_view(name) == "list";
        auto* sub = add_command(*c, name, help);
        if (!list) {
            sub->add_option("replica", w.replicas_.replica, "Id of the replica")->type_name("ID")->required();
            sub->add_option("--upstream", w.replicas_.upstream, "Its upstream, where several have one of that id")
                ->type_name("NAME");
        }
        if (std::string_view(name) == "attest")
            sub->add_flag("--record", w.replicas_.record, "Make its outputs the reference that all are compared with");
        add_admin(*sub, w);
        sub->callback([&, name] {
            replicas_action a = w.replicas_;
            a.what = name;
            a.where.from = w.from.sources();
            if (!w.address.empty()) a.where.address = w.address;
            a.output = w.output == "json" ? form::json : form::table;
            out = std::move(a);
        });
    }
}

void add_rest(CLI::App& app, words& w, action& out) {
    auto* health = add_command(app, "healthcheck", "Ask a running gateway whether it is ready; for container probes");
    add_sources(*health, w.from);
    health->add_option("--address", w.address, "Health or admin listener to ask; else from the configuration")
        ->type_name("A:P");
    health->callback([&] {
        out = healthcheck_action{w.address.empty() ? std::nullopt : std::optional(w.address), w.from.sources()};
    });

    auto* version_ = add_command(app, "version", "Print the version");
    version_->add_flag("--json", w.json, "As JSON");
    version_->callback([&] { out = version_action{w.json}; });

    auto* completion_ = add_command(app, "completion", "Print the completions of a shell");
    completion_->add_option("shell", w.shell, "bash, zsh or fish")
        ->type_name("SHELL")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    completion_->callback([&] { out = message{completion(app, w.shell), 0}; });
}

message usage(const std::string& what, const std::string& command) {
    return {"idem: " + what + "\nTry `idem " + (command.empty() ? "" : command + " ") + "--help`.\n", 2};
}

// Where a command is missing among `arguments`, or stands a word that is none.
std::optional<message> unknown_command(const CLI::App& program, const std::vector<std::string>& arguments) {
    const CLI::App* app = &program;
    std::string path;
    for (std::size_t i = 0;; ++i) {
        std::vector<std::string> names;
        for (const auto* sub : app->get_subcommands({})) names.push_back(sub->get_name());
        if (names.empty()) return std::nullopt;
        if (i == arguments.size()) {
            if (path.empty() || app->get_require_subcommand_min() == 0) return std::nullopt;  // help, or enough
            return usage(path + " needs a subcommand: " + listed({names.begin(), names.end()}), path);
        }
        const std::string& word = arguments[i];
        if (word.starts_with("-")) return std::nullopt;
        const std::string full = path.empty() ? word : path + " " + word;
        if (std::find(names.begin(), names.end(), word) == names.end()) {
            const auto near = config::nearest(word, names);
            return usage("there is no command \"" + full + "\"; " +
                             (near ? "did you mean " + *near + "?" : "known: " + listed({names.begin(), names.end()})),
                         path);
        }
        app = app->get_subcommand(word);
        path = full;
    }
}

}  // namespace

action parse(const std::vector<std::string>& arguments) {
    CLI::App app("A caching gateway that answers the same request to a language model with the same bytes.", "idem");
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.require_subcommand(1);
    app.get_formatter()->column_width(32);
    words w;
    action out;
    add_serve(app, w, out);
    add_check(app, w, out);
    add_config(app, w, out);
    add_key(app, w, out);
    add_explain(app, w, out);
    add_simulate(app, w, out);
    add_replicas(app, w, out);
    const auto eval = add_eval(app, out);
    add_cache(app, out);
    add_receipt(app, out);
    add_rest(app, w, out);
    if (arguments == std::vector<std::string>{"--version"}) return version_action{};
    if (!arguments.empty() && arguments[0] == "help") {  // `help serve` is `serve --help`
        std::vector<std::string> asked(arguments.begin() + 1, arguments.end());
        asked.emplace_back("--help");
        return parse(asked);
    }
    if (auto refused = unknown_command(app, arguments)) return *refused;
    try {
        // CLI11 takes the arguments from the back.
        std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
        app.parse(reversed);
        return out;
    } catch (const CLI::CallForHelp&) {
        return message{app.help(), 0};
    } catch (const CLI::ParseError& e) {
        if (arguments.empty()) return message{app.help(), 2};
        return usage(e.what(), app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name());
    }
}

}  // namespace idem::gateway::cli
