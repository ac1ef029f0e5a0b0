#include "gateway/cli/perform.hpp"

#include <boost/json.hpp>
#include <cstdio>
#include <iostream>

#include "gateway/app/run.hpp"
#include "gateway/cli/cache.hpp"
#include "gateway/cli/drift.hpp"
#include "gateway/cli/eval.hpp"
#include "gateway/cli/explain.hpp"
#include "gateway/cli/healthcheck.hpp"
#include "gateway/cli/key.hpp"
#include "gateway/cli/receipt.hpp"
#include "gateway/cli/replicas.hpp"
#include "gateway/cli/version.hpp"
#include "gateway/config/describe.hpp"
#include "gateway/config/text.hpp"
#include "gateway/observe/log.hpp"
#include "upstream/simulate/run.hpp"

namespace idem::gateway::cli {

namespace {

void complain(const config::loaded& l) {
    for (const auto& w : l.warnings) std::cerr << "warning: " << w.text() << "\n";
    for (const auto& e : l.errors) std::cerr << e.text() << "\n";
}

boost::json::array as_json(const std::vector<config::problem>& problems) {
    boost::json::array out;
    for (const auto& p : problems) {
        boost::json::object o{{"source", p.at.source}};
        if (p.at.line > 0) {
            o["line"] = p.at.line;
            o["column"] = p.at.column;
        }
        o["message"] = p.message;
        out.push_back(std::move(o));
    }
    return out;
}

int print(const std::string& text) {
    std::cout << text << std::flush;
    return std::cout ? 0 : 1;
}

int run(const message& m) {
    if (m.status == 0) return print(m.text);
    std::cerr << m.text;
    return m.status;
}

int run(const serve_action& s) {
    auto got = config::load_from(s.from);
    complain(got.result);
    if (!got.result.errors.empty()) return 1;
    const auto& o = got.result.value.observe;
    observe::configure_log(o.log_level, o.log_format == config::observe::format::json);
    return app::run(std::make_shared<const config::configuration>(std::move(got.result.value)));
}

int run(const check_action& c) {
    const auto got = config::load_from(c.from);
    const auto& l = got.result;
    if (c.output == form::json) {
        const boost::json::object o{
            {"file", got.file}, {"errors", as_json(l.errors)}, {"warnings", as_json(l.warnings)}};
        static_cast<void>(print(boost::json::serialize(o) + "\n"));
    } else {
        std::string text;
        for (const auto& w : l.warnings) text += "warning: " + w.text() + "\n";
        for (const auto& e : l.errors) text += e.text() + "\n";
        if (l.errors.empty()) text += (got.file.empty() ? "configuration" : got.file) + ": good\n";
        static_cast<void>(print(text));
    }
    return l.errors.empty() ? 0 : 1;
}

int run(const config_action& s) {
    switch (s.which) {
        case config_action::what::defaults:
            return print(config::describe_defaults());
        case config_action::what::schema:
            return print(config::describe_schema());
        case config_action::what::reference:
            return print(config::describe_reference());
        case config_action::what::effective:
            break;
    }
    const auto got = config::load_from(s.from);
    complain(got.result);
    if (!got.result.errors.empty()) return 1;
    return print(config::describe_effective(got.result.value));
}

int run(const key_action& k) {
    return run_key(k);
}

int run(const explain_action& e) {
    return run_explain(e);
}

int run(const simulate_action& s) {
    return upstream::simulate::run_simulate(s.options);
}

int run(const healthcheck_action& h) {
    config::address at;
    if (h.address) {
        const auto given = config::parse_address(*h.address);
        if (!given) {
            std::cerr << "idem: \"" << *h.address << "\" is not ADDRESS:PORT\n";
            return 2;
        }
        at = *given;
    } else {
        const auto got = config::load_from(h.from);
        // Errors elsewhere in the file do not matter here; the listeners' addresses are all that is used.
        at = got.result.value.admin.health.value_or(got.result.value.admin.at);
    }
    const std::string why = not_ready(at, std::chrono::seconds(3));
    if (why.empty()) return 0;
    std::cerr << "idem: " << why << "\n";
    return 1;
}

int run(const replicas_action& r) {
    return run_replicas(r);
}

int run(const eval_action& e) {
    return run_eval(e);
}

int run(const cache_action& c) {
    return run_cache(c);
}

int run(const drift_action& d) {
    return run_drift(d);
}

int run(const receipt_action& r) {
    return run_receipt(r);
}

int run(const version_action& v) {
    return print(version_text(v.json));
}

}  // namespace

int perform(const action& a) {
    return std::visit([](const auto& what) { return run(what); }, a);
}

}  // namespace idem::gateway::cli
