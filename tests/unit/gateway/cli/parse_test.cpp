#include "gateway/cli/parse.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace cli = idem::gateway::cli;

namespace {

template <class T>
T as(const std::vector<std::string>& arguments) {
    auto a = cli::parse(arguments);
    if (const auto* m = std::get_if<cli::message>(&a); m != nullptr && !std::is_same_v<T, cli::message>) {
        FAIL(m->text);
    }
    REQUIRE(std::holds_alternative<T>(a));
    return std::get<T>(a);
}

std::string usage_error(const std::vector<std::string>& arguments) {
    const auto m = as<cli::message>(arguments);
    CHECK(m.status == 2);
    return m.text;
}

}  // namespace

TEST_CASE("serve takes its flags into settings, the last word to --set") {
    const auto s =
        as<cli::serve_action>({"serve", "-c", "x.yaml", "--upstream", "http://h:1", "--engine", "vllm", "--listen",
                               ":1", "--redis", "redis://r", "--set", "cache.ttl=1d", "--set", "log.level=debug"});
    CHECK(s.from.file == "x.yaml");
    CHECK(s.from.upstream == "http://h:1");
    CHECK(s.from.engine == "vllm");
    std::string settings;
    for (const auto& one : s.from.settings) settings += one.label + ": " + one.path + "=" + one.text + "\n";
    CHECK(settings ==
          "--listen: listen.address=:1\n"
          "--redis: cache.redis.urls=redis://r\n"
          "--redis: cache.store=redis\n"
          "--set cache.ttl: cache.ttl=1d\n"
          "--set log.level: log.level=debug\n");
    CHECK(as<cli::serve_action>({"serve", "--redis", "redis://r", "--store", "memory"}).from.settings.size() == 2);
}

TEST_CASE("every command has its action") {
    CHECK(as<cli::check_action>({"check", "-o", "json"}).output == cli::form::json);
    CHECK(as<cli::config_action>({"config", "schema"}).which == cli::config_action::what::schema);
    const auto k = as<cli::key_action>(
        {"key", "f.json", "--path", "/v1/embeddings", "--header", "OpenAI-Beta:  a", "--header", "X:"});
    CHECK(k.file == "f.json");
    CHECK(k.about.path == "/v1/embeddings");
    CHECK(k.about.headers == std::vector<std::pair<std::string, std::string>>{{"OpenAI-Beta", "a"}, {"X", ""}});
    CHECK(as<cli::key_action>({"key"}).file == "-");
    CHECK_FALSE(k.lines);
    CHECK(as<cli::key_action>({"key", "--lines", "f"}).lines);
    const auto e = as<cli::explain_action>({"explain", "a.json", "-", "--path", "/v1/completions", "-o", "json"});
    CHECK(e.a == "a.json");
    CHECK(e.b == "-");
    CHECK(e.about.path == "/v1/completions");
    CHECK(e.output == cli::form::json);
    CHECK(as<cli::message>({"explain", "a.json"}).status == 2);
    const auto s =
        as<cli::simulate_action>({"simulate", "--listen", "127.0.0.1:9", "--latency", "300", "--cut-after", "0"});
    CHECK(s.options.port == 9);
    CHECK(s.options.latency == std::chrono::milliseconds(300));
    CHECK(s.options.cut_after == 0);
    CHECK_FALSE(as<cli::simulate_action>({"simulate"}).options.cut_after);
    CHECK(as<cli::healthcheck_action>({"healthcheck", "--address", "127.0.0.1:1"}).address == "127.0.0.1:1");
    CHECK(as<cli::version_action>({"version", "--json"}).json);
}

TEST_CASE("a file to look at may stand without its flag") {
    CHECK(as<cli::check_action>({"check", "x.yaml"}).from.file == "x.yaml");
    CHECK(as<cli::check_action>({"check", "-c", "x.yaml"}).from.file == "x.yaml");
    CHECK_FALSE(as<cli::check_action>({"check"}).from.file);
    CHECK(as<cli::config_action>({"config", "effective", "x.yaml", "--set", "a=b"}).from.file == "x.yaml");
    CHECK(usage_error({"check", "x.yaml", "-c", "y.yaml"}).find("x.yaml") != std::string::npos);
    CHECK(usage_error({"serve", "x.yaml"}).find("x.yaml") != std::string::npos);
}

TEST_CASE("a simulated engine plays one that is known") {
    CHECK(as<cli::simulate_action>({"simulate", "--engine", "mistral"}).options.engine == "mistral");
    CHECK(as<cli::simulate_action>({"simulate"}).options.engine == "simulated");
    const auto said = usage_error({"simulate", "--engine", "nope"});
    CHECK(said.find("nope") != std::string::npos);
    CHECK(said.find("vllm, sglang, llamacpp") != std::string::npos);
}

TEST_CASE("usage errors end with 2 and name what was wrong") {
    CHECK(usage_error({}).find("serve") != std::string::npos);
    CHECK(usage_error({"sreve"}).find("sreve") != std::string::npos);
    CHECK(usage_error({"serve", "--lisen", "x"}).find("--lisen") != std::string::npos);
    CHECK(usage_error({"serve", "--set", "cache.ttl"}).find("PATH=VALUE") != std::string::npos);
    CHECK(usage_error({"check", "-o", "xml"}).find("xml") != std::string::npos);
    CHECK(usage_error({"simulate", "--listen", "here"}).find("ADDRESS:PORT") != std::string::npos);
    CHECK(usage_error({"simulate", "--error-rate", "2"}).find("--error-rate") != std::string::npos);
    CHECK(usage_error({"completion", "csh"}).find("csh") != std::string::npos);
    CHECK(usage_error({"config"}) ==
          "idem: config needs a subcommand: effective, defaults, schema, reference\nTry `idem config --help`.\n");
    CHECK(usage_error({"config", "bogus"}) ==
          "idem: there is no command \"config bogus\"; known: effective, defaults, schema, reference\n"
          "Try `idem config --help`.\n");
    CHECK(usage_error({"config", "defualts"}).find("did you mean defaults?") != std::string::npos);
}

TEST_CASE("help is a command too") {
    CHECK(as<cli::message>({"help"}).text == as<cli::message>({"--help"}).text);
    CHECK(as<cli::message>({"help", "serve"}).text == as<cli::message>({"serve", "--help"}).text);
    CHECK(as<cli::message>({"help", "serve"}).status == 0);
    CHECK(usage_error({"help", "sreve"}).find("serve") != std::string::npos);
}

TEST_CASE("golden: help texts") {
    const std::filesystem::path folder = std::filesystem::path(IDEM_SOURCE_DIR) / "tests/golden/help";
    const std::vector<std::vector<std::string>> commands{{},
                                                         {"serve"},
                                                         {"check"},
                                                         {"config"},
                                                         {"config", "effective"},
                                                         {"config", "defaults"},
                                                         {"config", "schema"},
                                                         {"config", "reference"},
                                                         {"key"},
                                                         {"explain"},
                                                         {"simulate"},
                                                         {"healthcheck"},
                                                         {"eval"},
                                                         {"eval", "report"},
                                                         {"eval", "compare"},
                                                         {"eval", "baseline"},
                                                         {"eval", "gate"},
                                                         {"replicas"},
                                                         {"replicas", "list"},
                                                         {"replicas", "attest"},
                                                         {"replicas", "quarantine"},
                                                         {"replicas", "readmit"},
                                                         {"replicas", "drain"},
                                                         {"cache"},
                                                         {"cache", "drift"},
                                                         {"cache", "stats"},
                                                         {"cache", "list"},
                                                         {"cache", "get"},
                                                         {"cache", "purge"},
                                                         {"cache", "erase"},
                                                         {"cache", "epochs"},
                                                         {"cache", "rollback"},
                                                         {"receipt"},
                                                         {"receipt", "show"},
                                                         {"receipt", "verify"},
                                                         {"receipt", "audit"},
                                                         {"receipt", "key"},
                                                         {"receipt", "key", "create"},
                                                         {"receipt", "key", "public"},
                                                         {"version"},
                                                         {"completion"}};
    for (auto words : commands) {
        std::string name = "idem";
        for (const auto& w : words) name += "-" + w;
        words.push_back("--help");
        const auto m = as<cli::message>(words);
        CAPTURE(name);
        CHECK(m.status == 0);
        if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(folder / (name + ".txt")) << m.text;
        std::ostringstream expected;
        expected << std::ifstream(folder / (name + ".txt")).rdbuf();
        CHECK(m.text == expected.str());
    }
}

TEST_CASE("purges and epochs") {
    using what = cli::cache_action::what;
    const auto p = as<cli::cache_action>({"cache", "purge", "--tag", "nightly", "--dry-run", "--admin", "h:1"});
    CHECK(p.which == what::purge);
    CHECK(p.kind == "tag");
    CHECK(p.value == "nightly");
    CHECK(p.dry_run);
    CHECK(p.where.address == "h:1");
    const auto all = as<cli::cache_action>({"cache", "erase", "--all"});
    CHECK(all.which == what::erase);
    CHECK(all.kind == "all");
    CHECK_FALSE(all.dry_run);
    CHECK(usage_error({"cache", "purge"}).find("--tag") != std::string::npos);
    CHECK(usage_error({"cache", "purge", "--tag", "a", "--model", "b"}).find("2 were given") != std::string::npos);
    CHECK(as<cli::cache_action>({"cache", "epochs"}).which == what::epochs);
    const auto open = as<cli::cache_action>({"cache", "epochs", "--open", "u", "--reason", "new weights"});
    CHECK(open.which == what::open_epoch);
    CHECK(open.upstream == "u");
    CHECK(open.why == "new weights");
    CHECK(usage_error({"cache", "epochs", "--open", "u"}).find("--reason") != std::string::npos);
    CHECK(usage_error({"cache", "epochs", "--reason", "r"}).find("--open") != std::string::npos);
    CHECK(as<cli::cache_action>({"cache", "rollback", "abc"}).epoch == "abc");
    CHECK(as<cli::cache_action>({"cache", "list", "--limit", "7"}).limit == 7);
    CHECK(usage_error({"cache", "list", "--limit", "0"}).find("--limit") != std::string::npos);
    CHECK(as<cli::cache_action>({"cache", "get", "k", "--body"}).body);
}

TEST_CASE("evaluations") {
    using task = cli::eval_action::task;
    const auto e = as<cli::eval_action>({"eval", "--target", "http://h", "--engine", "vllm", "--cells", "noise,form",
                                         "--runs", "9", "--budget", "2m", "--seed", "4", "--p-max", "0.1"});
    CHECK(e.what == task::run);
    CHECK(e.target == "http://h");
    CHECK(e.engine == "vllm");
    CHECK(e.cells == std::vector<std::string>{"noise", "form"});
    CHECK(e.runs == 9);
    CHECK(e.budget == std::chrono::minutes(2));
    CHECK(e.seed == 4);
    CHECK(e.p_max == 0.1);
    CHECK(as<cli::eval_action>({"eval", "report", "D"}).directory == "D");
    const auto c = as<cli::eval_action>({"eval", "compare", "A", "B"});
    CHECK(c.directory == "A");
    CHECK(c.other == "B");
    CHECK(as<cli::eval_action>({"eval", "baseline", "D", "--out", "F"}).out == "F");
    const auto g = as<cli::eval_action>({"eval", "gate", "--baseline", "B", "--target", "http://h"});
    CHECK(g.what == task::gate);
    CHECK(g.baseline == "B");
    CHECK(usage_error({"eval"}).find("--target") != std::string::npos);
    CHECK(usage_error({"eval", "gate", "--target", "http://h"}).find("--baseline") != std::string::npos);
    CHECK(usage_error({"eval", "gate", "--baseline", "B"}).find("--target") != std::string::npos);
    CHECK(usage_error({"eval", "--target", "h", "--cells", "solo"}).find("solo-cold") != std::string::npos);
    CHECK(usage_error({"eval", "--target", "h", "--runs", "1"}).find("--runs") != std::string::npos);
    CHECK(as<cli::eval_action>({"eval", "--target", "h", "--out", "D", "--resume"}).resume);
    CHECK(usage_error({"eval", "--target", "h", "--resume", "--runs", "9"}).find("--runs") != std::string::npos);
    CHECK(usage_error({"eval", "reprot"}).find("report") != std::string::npos);
}

TEST_CASE("completions know every command and flag") {
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        const auto m = as<cli::message>({"completion", shell});
        CHECK(m.status == 0);
        for (const std::string word : {"serve", "effective", "healthcheck"})
            CHECK(m.text.find(word) != std::string::npos);
        CHECK(m.text.find(shell == "fish" ? "-l tokens-per-second" : "--tokens-per-second") != std::string::npos);
    }
}

TEST_CASE("receipts and drift") {
    const auto d = as<cli::drift_action>({"cache", "drift", "a", "b", "--admin", "h:1", "-o", "json"});
    CHECK(d.before == "a");
    CHECK(d.after == "b");
    CHECK(d.where.address == "h:1");
    CHECK(d.output == cli::form::json);
    using what = cli::receipt_action::what;
    const auto v =
        as<cli::receipt_action>({"receipt", "verify", "F", "--public-key", "K", "--entry", "E", "--normalised"});
    CHECK(v.which == what::verify);
    CHECK(v.file == "F");
    CHECK(v.public_key == "K");
    CHECK(v.entry == "E");
    CHECK(v.normalised);
    const auto a = as<cli::receipt_action>({"receipt", "audit", "F", "--head", "H"});
    CHECK(a.which == what::audit);
    CHECK(a.head == "H");
    CHECK(as<cli::receipt_action>({"receipt", "show", "K", "--fill", "x"}).fill == "x");
    CHECK(as<cli::receipt_action>({"receipt", "key", "create", "F"}).which == what::create_key);
    CHECK(as<cli::receipt_action>({"receipt", "key", "public", "F"}).which == what::public_key);
    CHECK(usage_error({"receipt", "audit", "F"}).find("--head") != std::string::npos);
    CHECK(usage_error({"cache", "drift", "a"}) != "");
}
