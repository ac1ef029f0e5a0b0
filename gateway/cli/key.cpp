#include "gateway/cli/key.hpp"

#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "gateway/pipeline/identify.hpp"
#include "gateway/pipeline/plan.hpp"

namespace idem::gateway::cli {

namespace {

std::optional<std::string> read_body(const std::string& file) {
    if (file == "-") {
        if (isatty(STDIN_FILENO) != 0) std::cerr << "Type the request's body, then Ctrl-D; or name a FILE.\n";
        return std::string(std::istreambuf_iterator<char>(std::cin), {});
    }
    std::error_code ec;
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file, ec)) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
}

struct answer {
    std::string dialect, model, policy, verdict, why, digest, canonical;
};

/// Under the policy of the route that the request takes; a request that no route takes has none.
answer ask(const key_action& k, const std::string& body, config::snapshot configuration) {
    upstream::http::request_head head;
    head.method = k.method;
    head.target = k.path;
    bool typed = false;
    for (const auto& [name, value] : k.headers) {
        head.headers.add(name, value);
        typed = typed || upstream::http::iequals(name, "content-type");
    }
    if (!typed) head.headers.add("content-type", "application/json");

    const pipeline::plan plan(configuration);
    pipeline::identifier identifier;
    const auto id = identifier.identify(head, body, k.sample, configuration->listen.body);
    const pipeline::route_plan* route =
        plan.match(head.target.substr(0, head.target.find('?')), id.call.model, head.headers);
    answer a;
    if (id.api != nullptr) a.dialect = id.api->name();
    a.model = id.call.model;
    const reason why = id.refuse != reason::none                                ? id.refuse
                       : !route                                                 ? reason::no_route
                       : route->policy->bypass                                  ? reason::policy_bypass
                       : !pipeline::eligible(*route->policy->settings, id.call) ? reason::not_eligible
                                                                                : reason::none;
    if (route) a.policy = route->policy->settings->name;
    if (why != reason::none) {
        a.verdict = "bypass";
        a.why = to_string(why);
        return a;
    }
    a.verdict = "cacheable";
    a.digest = to_hex(identifier.digest_of(id, route->policy->treatment).bytes);
    a.canonical = id.canonical;
    return a;
}

}  // namespace

int run_key(const key_action& k) {
    auto configuration = std::make_shared<config::configuration>();
    if (k.configured) {
        auto got = config::load_from(k.from);
        for (const auto& e : got.result.errors) std::cerr << e.text() << "\n";
        if (!got.result.errors.empty()) return 1;
        *configuration = std::move(got.result.value);
    } else {
        // What `idem serve --upstream URL` does to every request.
        configuration->upstreams = {{.name = "default"}};
        configuration->policies = {{.name = "relaxed", .base = "relaxed"}};
        configuration->routes = {{.name = "default", .upstream = "default"}};
    }
    const auto body = read_body(k.file);
    if (!body) {
        std::cerr << "idem: " << k.file << " cannot be read as a file\n";
        return 1;
    }
    const answer a = ask(k, *body, configuration);
    if (k.output == form::json) {
        const boost::json::object o{{"verdict", a.verdict}, {"reason", a.why},
                                    {"dialect", a.dialect}, {"model", a.model},
                                    {"digest", a.digest},   {"canonical", a.canonical},
                                    {"policy", a.policy},   {"key_version", cache::key_version}};
        std::cout << boost::json::serialize(o) << "\n";
    } else {
        std::cout << "verdict    " << a.verdict << (a.why.empty() ? "" : ": " + a.why) << "\n"
                  << "dialect    " << (a.dialect.empty() ? "none" : a.dialect) << "\n"
                  << "model      " << (a.model.empty() ? "-" : a.model) << "\n"
                  << "policy     " << (a.policy.empty() ? "-" : a.policy) << "\n";
        if (!a.digest.empty()) std::cout << "digest     " << a.digest << "\ncanonical  " << a.canonical << "\n";
    }
    std::cout << std::flush;
    return a.digest.empty() ? 1 : 0;
}

}  // namespace idem::gateway::cli
