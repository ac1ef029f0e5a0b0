#include "gateway/cli/asked.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cache/policy/body_controls.hpp"

namespace idem::gateway::cli {

std::optional<questioner> questioner::make(const request_flags& about) {
    auto configuration = std::make_shared<config::configuration>();
    if (about.configured) {
        auto got = config::load_from(about.from);
        for (const auto& e : got.result.errors) std::cerr << e.text() << "\n";
        if (!got.result.errors.empty()) return std::nullopt;
        *configuration = std::move(got.result.value);
    } else {
        configuration->upstreams = {{.name = "default"}};
        configuration->policies = {{.name = "relaxed", .base = "relaxed"}};
        configuration->routes = {{.name = "default", .upstream = "default"}};
    }
    return questioner(about, std::move(configuration));
}

questioner::questioner(const request_flags& about, config::snapshot configuration)
    : sample_(about.sample), plan_(std::move(configuration)) {
    head_.method = about.method;
    head_.target = about.path;
    bool typed = false;
    for (const auto& [name, value] : about.headers) {
        head_.headers.add(name, value);
        typed = typed || upstream::http::iequals(name, "content-type");
    }
    if (!typed) head_.headers.add("content-type", "application/json");
}

answer questioner::ask(const std::string& body) {
    const pipeline::identity id = identifier_.identify(head_, body, sample_, plan_.settings().listen.body, &plan_);
    const pipeline::route_plan* route = id.route;
    answer a;
    if (id.api != nullptr) a.dialect = id.api->name();
    a.model = id.call.model;
    a.canonical = id.canonical;
    const reason why = id.refuse != reason::none                                ? id.refuse
                       : !route                                                 ? reason::no_route
                       : route->policy->bypass                                  ? reason::policy_bypass
                       : !pipeline::eligible(*route->policy->settings, id.call) ? reason::not_eligible
                                                                                : reason::none;
    if (route) a.policy = route->policy->settings->name;
    a.verdict = why == reason::none ? "cacheable" : "bypass";
    if (route && !id.canonical.empty()) {
        // What is not cached is changed no more than it must be.
        const auto changed = forwards_.forwarded(head_, body, plan_.settings().listen.body, *id.api,
                                                 why == reason::none ? route->policy->changes : plan_.controls_only());
        a.forwarded = changed.value_or(std::string());
        if (cache::parse_body_controls(id.call.cache_control).error) {
            a.verdict = "refused";
            a.why = to_string(reason::bad_control);
            return a;
        }
    }
    if (why != reason::none) {
        a.why = to_string(why);
        return a;
    }
    a.digest = to_hex(identifier_.digest_of(id, route->policy->treatment).bytes);
    if (route->policy->settings->items == config::policy::item_rule::batch) {
        for (const pipeline::item_identity& i : identifier_.items_of(id, route->policy->treatment))
            a.items.push_back(to_hex(i.request.bytes));
        // One thing is that thing, not a batch of one.
        if (a.items.size() == 1) a.digest = a.items.front();
    }
    return a;
}

std::optional<std::string> read_body(const std::string& file) {
    if (file == "-") {
        if (isatty(STDIN_FILENO) != 0) std::cerr << "Type the request's body, then Ctrl-D; or name a FILE.\n";
        return std::string(std::istreambuf_iterator<char>(std::cin), {});
    }
    std::error_code ec;
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file, ec)) {
        std::cerr << "idem: " << file << " cannot be read as a file\n";
        return std::nullopt;
    }
    return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace idem::gateway::cli
