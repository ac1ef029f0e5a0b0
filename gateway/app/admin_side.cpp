#include "gateway/app/admin_side.hpp"

#include "gateway/admin/token.hpp"
#include "gateway/app/banner.hpp"
#include "gateway/app/runtime.hpp"

namespace idem::gateway::app {

namespace {

http::server_limits admin_limits() {
    http::server_limits l;
    l.quick_body = admin::body_cap;
    l.connections = 256;
    return l;
}

}  // namespace

std::string admin_side::add(const config::address& at, admin::rules rules, std::string_view what) {
    port p;
    p.handler = std::make_unique<admin::endpoint>(view_, std::move(rules));
    p.server = std::make_unique<http::server>(on_, *p.handler, admin_limits());
    std::string error = p.server->listen(at.host, at.port, nullptr);
    if (!error.empty()) return error;
    observe::log(observe::level::info, what, "http://" + at.host + ":" + std::to_string(p.server->port()));
    ports_.push_back(std::move(p));
    return {};
}

std::string admin_side::listen() {
    const config::configuration& c = of_.settings();
    admin::rules rules;
    rules.hosts = c.admin.hosts;
    rules.read_token = c.admin.read_token;
    rules.token = c.admin.token;
    if (rules.token.empty()) {
        admin::token_result made = admin::token_in(c.data);
        if (made.warning.empty()) {
            observe::log(observe::level::info, "admin_token",
                         "in " + absolute_path(c.data + "/" + std::string(admin::token_file)));
        } else {
            observe::log(observe::level::warning, "admin_token", made.warning);
        }
        rules.token = std::move(made.token);
    }
    if (std::string error = add(c.admin.at, std::move(rules), "admin"); !error.empty()) return error;
    if (c.admin.health) {
        if (std::string error = add(*c.admin.health, {.health_only = true}, "health"); !error.empty()) return error;
    }
    return {};
}

void admin_side::stop() {
    for (port& p : ports_) {
        p.server->stop_accepting();
        p.server->stop();
    }
}

}  // namespace idem::gateway::app
