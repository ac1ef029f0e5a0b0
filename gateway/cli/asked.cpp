#include "gateway/cli/asked.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cache/policy/body_controls.hpp"
#include "cache/policy/controls.hpp"

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
    const auto controls = cache::parse_controls(head_.headers);
    const pipeline::identity id =
        identifier_.identify(head_, body, sample_, plan_.settings().listen.body, &plan_, controls.value.policy);
    const pipeline::route_plan* route = id.route;
    answer a;
    if (id.api != nullptr) a.dialect = id.api->name();
    a.model = id.call.model;
    a.canonical = id.canonical;
    if (route) a.policy = route->asked;
    if (const reason refused = refusal(id, controls.error.has_value()); refused != reason::none) {
        a.verdict = "refused";
        a.why = to_string(refused);
        for (const cache::conflict& c : id.conflicts)
            a.conflicts.push_back(c.field + " is " + c.value + ", expected " + c.expected);
        return a;
    }
    const reason why = id.refuse != reason::none                                ? id.refuse
                       : !route                                                 ? reason::no_route
                       : route->policy->bypass                                  ? reason::policy_bypass
                       : !pipeline::eligible(*route->policy->settings, id.call) ? reason::not_eligible
                                                                                : reason::none;
    a.verdict = why == reason::none ? "cacheable" : "bypass";
    if (route && !id.canonical.empty()) {
        // What is not cached is changed no more than it must be.
        const bool treated = why == reason::none || route->treatment->enforces(*id.api);
        const auto changed = forwards_.forwarded(head_, body, plan_.settings().listen.body, *id.api,
                                                 treated ? route->treatment->changes() : route->treatment->least());
        a.forwarded = changed.value_or(std::string());
    }
    if (why != reason::none) {
        a.why = to_string(why);
        return a;
    }
    const digest request = identifier_.digest_of(id);
    a.digest = to_hex(request.bytes);
    if (route->policy->settings->base == "seeded" && route->treatment->enforces(*id.api))
        a.seed = cache::derived_seed(request);
    if (route->policy->settings->items == config::policy::item_rule::batch) {
        for (const pipeline::item_identity& i : identifier_.items_of(id)) a.items.push_back(to_hex(i.request.bytes));
        // One thing is that thing, not a batch of one.
        if (a.items.size() == 1) a.digest = a.items.front();
    }
    return a;
}

reason questioner::refusal(const pipeline::identity& id, bool bad_control) const {
    if (bad_control || id.policy_unknown) return reason::bad_control;
    if (!id.route || !id.api) return reason::none;
    if (const reason why = id.route->treatment->refuses(*id.api); why != reason::none) return why;
    if (!id.canonical.empty() && cache::parse_body_controls(id.call.cache_control).error) return reason::bad_control;
    const bool enforced = id.route->treatment->enforces(*id.api);
    if (enforced && id.route->policy->settings->base == "strict" && sample_ > 0) return reason::bad_control;
    return id.refused ? reason::parameter_conflict : reason::none;
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
