#include <algorithm>
#include <map>
#include <set>

#include "gateway/config/proxy.hpp"
#include "gateway/config/text.hpp"
#include "gateway/config/validate_rules.hpp"
#include "upstream/client/credential.hpp"
#include "upstream/determinism/golden.hpp"
#include "upstream/engine/profile.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::config::rules {

namespace {

using upstream::client::tls_settings;

class upstream_rules : validation {
public:
    using validation::validation;

    void run() {
        upstreams();
        shared_servers();
        own_credentials();
    }

private:
    void upstreams() {
        if (c_.upstreams.empty()) {
            l_.errors.push_back({where("upstreams"), "upstreams: none; name one here, or start with --upstream URL"});
        }
        std::map<std::string, std::size_t> names;
        for (std::size_t i = 0; i < c_.upstreams.size(); ++i) {
            auto& u = c_.upstreams[i];
            const auto at = indexed("upstreams", i);
            if (u.name.empty()) {
                if (l_.said.contains(at + ".name")) error(at + ".name", "must not be empty");
            } else if (!plain_name(u.name)) {
                error(at + ".name",
                      "\"" + u.name + "\" is not a name; expected up to 64 letters, digits and - _ . : /");
            } else if (const auto [it, fresh] = names.emplace(u.name, i); !fresh) {
                error(at + ".name", "\"" + u.name + "\" is already the name of " + indexed("upstreams", it->second));
            }
            tls(at + ".tls", u.tls);
            timeouts(at + ".timeouts", u);
            environment(at + ".environment", u);
            golden(at + ".admission", u);
            credentials(at + ".credentials", u);
            if (u.eject_first > u.eject_longest) {
                error(at + ".ejection.first", format_duration(u.eject_first) + " is longer than " + at +
                                                  ".ejection.longest (" + format_duration(u.eject_longest) + ")");
            }
            concurrency_rules(at + ".concurrency", u);
            replicas(at, u);
        }
    }

    // A lock that nothing can keep would quarantine every replica for ever.
    void environment(const std::string& at, const upstream_pool& u) {
        const auto* engine = upstream::engine::find(u.engine);
        const auto& e = u.environment;
        for (const auto& [name, value] : e.lock) {
            const bool declared = std::ranges::find(e.declared, name) != e.declared.end();
            if (engine && !declared && !upstream::engine::readable(engine->probes, name)) {
                error(at + ".lock",
                      "no endpoint of " + u.engine + " tells \"" + name +
                          "\"; name it in environment.declared to vouch for it yourself, or leave it out");
            }
            if (value.empty()) error(at + ".lock", "\"" + name + "\" has no value");
        }
        for (const auto& name : e.declared) {
            const auto locked = std::ranges::find(e.lock, name, &std::pair<std::string, std::string>::first);
            if (locked == e.lock.end())
                error(at + ".declared", "\"" + name + "\" is not in environment.lock, which gives its value");
        }
        if (u.probe == upstream_pool::watching::off && !e.lock.empty())
            error(at + ".lock", "is never compared: probe is off; set it to auto or on");
        if (engine && engine->hosted && u.probe == upstream_pool::watching::on)
            warn(at, "the environment of " + u.engine +
                         " cannot be read; its replicas are admitted by golden prompts alone");
    }

    void golden(const std::string& at, const upstream_pool& u) {
        const auto& file = u.admission.golden;
        if (file.empty()) return;
        const auto text = world_.read_file(file);
        if (!text) return error(at + ".golden", "the file \"" + file + "\" cannot be read");
        const auto read = upstream::determinism::parse_golden(*text);
        if (!read.error.empty()) error(at + ".golden", file + ": " + read.error);
    }

    void timeouts(const std::string& at, const upstream_pool& u) {
        const std::pair<const char*, milliseconds> parts[]{
            {"connect", u.connect}, {"first_byte", u.first_byte}, {"between_bytes", u.between_bytes}};
        for (const auto& [name, d] : parts) {
            if (d > u.total) {
                error(at + "." + name,
                      format_duration(d) + " is longer than " + at + ".total (" + format_duration(u.total) + ")");
            }
        }
    }

    void credentials(const std::string& at, const upstream_pool& u) {
        const bool header = l_.said.contains(at + ".header") || u.credential_value || !u.credential_file.empty();
        if ((u.bearer ? 1 : 0) + (u.bearer_file.empty() ? 0 : 1) + (header ? 1 : 0) > 1) {
            error(at, "names several credentials; give one of bearer, bearer_file and header");
            return;
        }
        secret(at + ".bearer", u.bearer);
        secret_file(at + ".bearer_file", u.bearer_file);
        if (!header) return;
        if (u.credential_header.empty()) {
            error(at, "says a value without its field; name the field in " + at + ".header");
        } else if (!token_text(u.credential_header) || reserved(u.credential_header)) {
            error(at + ".header",
                  "\"" + u.credential_header + "\" cannot carry a credential; expected one such as x-api-key");
        }
        if (u.credential_value.has_value() == !u.credential_file.empty()) {
            error(at, "needs one of value and value_file for its field " + u.credential_header);
        }
        secret(at + ".value", u.credential_value);
        secret_file(at + ".value_file", u.credential_file);
    }

    static bool reserved(const std::string& field) {
        using upstream::http::iequals;
        return upstream::http::hop_by_hop(field, {}) || iequals(field, "host") || iequals(field, "content-length") ||
               iequals(field, "via") || iequals(field, "accept-encoding");
    }

    void secret(const std::string& at, const std::optional<std::string>& value) {
        if (value && upstream::client::secret_in(*value) != std::string_view(*value))
            error(at, "is empty, or holds what no header field can");
    }

    void secret_file(const std::string& at, const std::string& file) {
        if (file.empty()) return;
        const auto text = world_.read_file(file);
        if (!text || !upstream::client::secret_in(*text))
            error(at, "the file \"" + file + "\" cannot be read, is empty, or holds what no header field can");
    }

    [[nodiscard]] bool strict_leads_to(const std::string& upstream) const {
        return std::ranges::any_of(c_.routes, [&](const route& r) {
            const auto named = [&](const policy& p) { return p.name == r.policy && p.base == "strict"; };
            return r.upstream == upstream && std::ranges::any_of(c_.policies, named);
        });
    }

    void concurrency_rules(const std::string& at, const upstream_pool& u) {
        const auto& c = u.concurrency;
        using rule = concurrency::rule;
        if (c.mode == rule::serial && c.per_replica > 1) {
            error(at + ".per_replica", std::to_string(c.per_replica) +
                                           " is not accepted: serial is one call at once; leave it out, or use "
                                           "batch_invariant where the engine is in a batch-invariant mode");
        }
        if (c.mode == rule::unlimited && c.per_replica > 0) {
            error(at + ".per_replica", "has no meaning with the mode unlimited; leave it out, or use batch_invariant");
        }
        if (c.mode == rule::unlimited && strict_leads_to(u.name)) {
            warn(at + ".mode",
                 "unlimited, and a strict route leads here: whoever calls the replica at the same time can "
                 "change an answer; use serial, or batch_invariant where the server is started so");
        }
        const auto* profile = upstream::engine::find(u.engine);
        if (c.mode == rule::batch_invariant && profile && !profile->batch_invariant) {
            warn(at + ".mode", "no batch-invariant mode of " + u.engine +
                                   " is known; answers that depend on the batch are not prevented");
        }
    }

    void replicas(const std::string& at, upstream_pool& u) {
        std::set<std::string> ids, servers;
        bool any_tls = false;
        if (u.replicas.empty() && l_.said.contains(at + ".replicas"))
            error(at + ".replicas", "empty; expected at least one");
        for (std::size_t j = 0; j < u.replicas.size(); ++j) {
            auto& r = u.replicas[j];
            const auto here = at + "." + indexed("replicas", j);
            if (!plain_name(r.id)) {
                error(here + ".id", "\"" + r.id + "\" is not a name; expected up to 64 letters, digits and - _ . : /");
            } else if (!ids.insert(r.id).second) {
                error(here + ".id", "\"" + r.id + "\" is the id of another replica of this upstream");
            }
            if (!l_.said.contains(here + ".url")) continue;  // reported as missing
            std::string why;
            auto target = upstream::client::parse_url(r.url, why);
            if (!target) {
                error(here + ".url", shown(here + ".url", r.url) + " " + why);
                continue;
            }
            if (!servers.insert(upstream::client::server_of(*target)).second)
                error(here + ".url", shown(here + ".url", r.url) + " is another replica of this upstream");
            own_address(here + ".url", *target);
            target->tls_options = u.tls;
            proxy(at + ".proxy", u.proxy, *target);
            any_tls = any_tls || target->tls;
            r.at = std::move(*target);
        }
        const auto taking = [](const replica& r) { return r.weight > 0; };
        if (!u.replicas.empty() && std::ranges::none_of(u.replicas, taking)) {
            error(at + ".replicas", "every weight is 0, so no request could go anywhere; raise one");
        }
        if (!any_tls && u.tls != tls_settings{} && !u.replicas.empty()) {
            warn(at + ".tls", "has no effect: no replica's URL is https://");
        }
    }

    // What is wrong with it is said once.
    void proxy(const std::string& at, const std::string& said, upstream::client::target& to) {
        if (said.empty()) return;
        std::string variable, why;
        const bool environment = said == "environment";
        const auto through =
            environment ? proxy_of_environment(to, world_.environment, variable, why) : parse_proxy(said, why);
        if (through) {
            to.through = *through;
        } else if (std::ranges::find(bad_proxies_, at) == bad_proxies_.end()) {
            bad_proxies_.push_back(at);
            error(at, (environment ? "the environment variable " + variable : shown(at, mask_url(said))) + " " + why);
        }
    }

    std::vector<std::string> bad_proxies_;

    // Calls at once are counted by upstream: two of them on one server would let two calls meet there.
    void shared_servers() {
        std::map<std::string, std::size_t> first;
        for (std::size_t i = 0; i < c_.upstreams.size(); ++i) {
            for (std::size_t j = 0; j < c_.upstreams[i].replicas.size(); ++j) {
                const auto& r = c_.upstreams[i].replicas[j];
                if (r.at.host.empty()) continue;  // complained of
                const auto [it, fresh] = first.emplace(upstream::client::server_of(r.at), i);
                if (fresh || it->second == i || !(limits_calls(i) || limits_calls(it->second))) continue;
                const std::string at = indexed("upstreams", i) + "." + indexed("replicas", j) + ".url";
                error(at, shown(at, r.url) + " is a replica of " + indexed("upstreams", it->second) +
                              ", too, and neither would see how many calls the other one makes there; lead both "
                              "routes to one upstream");
            }
        }
    }

    [[nodiscard]] bool limits_calls(std::size_t upstream) const {
        using rule = concurrency::rule;
        const upstream_pool& u = c_.upstreams[upstream];
        if (u.concurrency.mode != rule::automatic) return u.concurrency.mode != rule::unlimited;
        return upstream::engine::find(u.engine) != nullptr && strict_leads_to(u.name);
    }

    // A gateway that calls itself answers nothing and hangs until a deadline.
    void own_address(const std::string& path, const upstream::client::target& t) {
        const auto& l = c_.listen.at;
        upstream::client::target ours;
        ours.host = l.host;
        ours.port = l.port;
        ours.base_path = upstream::client::beside_api(t).base_path;
        if (upstream::client::server_of(ours) == upstream::client::server_of(t)) {
            error(path, "this is listen.address itself (" + format_address(l) + "); point it at the model's server");
        }
    }

    void own_credentials() {
        if (c_.listen.at.loopback() || !c_.listen.clients_file.empty()) return;
        for (std::size_t i = 0; i < c_.upstreams.size(); ++i) {
            if (!c_.upstreams[i].own_credential()) continue;
            const bool bearer = c_.upstreams[i].bearer.has_value();
            error(indexed("upstreams", i) + (bearer ? ".credentials.bearer" : ".credentials"),
                  "everybody who reaches " + format_address(c_.listen.at) +
                      " could spend this credential; name the allowed callers in listen.clients, or listen on a "
                      "loopback address");
        }
    }
};

}  // namespace

void check_upstreams(loaded& l, const std::string& file, const world& w) {
    upstream_rules(l, file, w).run();
}

}  // namespace idem::gateway::config::rules
