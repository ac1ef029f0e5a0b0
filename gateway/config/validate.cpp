#include "gateway/config/validate.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cache/policy/clients.hpp"
#include "gateway/config/glob.hpp"
#include "gateway/config/pointers.hpp"
#include "gateway/config/schema.hpp"
#include "gateway/config/text.hpp"

namespace idem::gateway::config {

namespace {

using upstream::client::tls_settings;

bool token_text(std::string_view text) {  // RFC 9110 section 5.6.2
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

bool plain_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.' || c == ':' || c == '/';
    });
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

std::string indexed(std::string_view list, std::size_t i) {
    return std::string(list) + "[" + std::to_string(i) + "]";
}

class validator {
public:
    validator(loaded& l, const std::string& file, const world& w) : l_(l), c_(l.value), file_(file), world_(w) {}

    void run() {
        listener_rules();
        ports();
        scope();
        stores();
        upstreams();
        own_credentials();
        policies();
        routes();
        admin_rules();
    }

private:
    // The nearest enclosing path that was said; the file as a whole where nothing was.
    place where(std::string path) const {
        while (!path.empty()) {
            if (const auto it = l_.said.find(path); it != l_.said.end()) return it->second;
            const auto cut = path.find_last_of(".[");
            path.resize(cut == std::string::npos ? 0 : cut);
        }
        return {file_, 0, 0};
    }
    void error(const std::string& path, const std::string& message) {
        l_.errors.push_back({where(path), path + ": " + message});
    }
    void warn(const std::string& path, const std::string& message) {
        l_.warnings.push_back({where(path), path + ": " + message});
    }

    // The value in quotes, or a stand-in where it came from the environment.
    std::string shown(const std::string& path, const std::string& text) const {
        return where(path).expanded ? "the value of the variable" : "\"" + mask_url(text) + "\"";
    }

    void readable(const std::string& path, const std::string& file) {
        if (!file.empty() && !world_.read_file(file)) error(path, "the file \"" + file + "\" cannot be read");
    }

    void certificate_pair(const std::string& at, const std::string& certificate, const std::string& key_file) {
        if (!certificate.empty() && key_file.empty())
            error(at + ".certificate", "needs " + at + ".key, its private key");
        if (certificate.empty() && !key_file.empty()) error(at + ".key", "needs " + at + ".certificate");
        readable(at + ".certificate", certificate);
        readable(at + ".key", key_file);
    }

    void tls(const std::string& at, const tls_settings& t) {
        certificate_pair(at, t.certificate_file, t.key_file);
        readable(at + ".ca", t.ca_file);
    }

    void listener_rules() {
        const auto& l = c_.listen;
        certificate_pair("listen.tls", l.tls_certificate, l.tls_key);
        if (!l.tls_client_ca.empty() && l.tls_certificate.empty()) {
            error("listen.tls.client_ca",
                  "client certificates need TLS; give listen.tls.certificate and listen.tls.key");
        }
        readable("listen.tls.client_ca", l.tls_client_ca);
        clients();
        for (const auto& cidr : l.trusted) {
            if (!valid_cidr(cidr)) {
                error("listen.trusted",
                      "\"" + cidr + "\" is not an address range; expected one such as 10.0.0.0/8 or ::1");
            }
        }
    }

    // Errors of that file have places of their own.
    void clients() {
        const auto& file = c_.listen.clients_file;
        if (file.empty()) return;
        const auto text = world_.read_file(file);
        if (!text) return error("listen.clients", "the file \"" + file + "\" cannot be read");
        const auto known = idem::cache::client_table::load(*text);
        for (const auto& f : known.faults) l_.errors.push_back({{file, static_cast<int>(f.line), 1}, f.message});
        if (known.faults.empty() && known.table.size() == 0) {
            error("listen.clients", "the file \"" + file + "\" names no client, so nobody would be let in");
        }
    }

    void ports() {
        std::vector<std::pair<std::string, address>> listeners{{"listen.address", c_.listen.at},
                                                               {"admin.address", c_.admin.at}};
        if (c_.admin.health) listeners.emplace_back("health.address", *c_.admin.health);
        const auto any = [](const address& a) { return a.host == "0.0.0.0" || a.host == "::"; };
        for (std::size_t i = 0; i < listeners.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const auto& [name, a] = listeners[i];
                const auto& [other, b] = listeners[j];
                if (a.port != 0 && a.port == b.port && (a.host == b.host || any(a) || any(b))) {
                    error(name, format_address(a) + " is taken by " + other + " (" + format_address(b) +
                                    "); give each listener its own port");
                    break;
                }
            }
        }
    }

    void scope() {
        const auto& s = c_.cache.scope;
        if (s == "credential" || s == "shared") {
        } else if (s == "client") {
            if (c_.listen.clients_file.empty()) {
                error("cache.scope", "\"client\" needs listen.clients, the file that names the clients");
            }
        } else if (s.starts_with("header:")) {
            if (!token_text(std::string_view(s).substr(7))) {
                error("cache.scope",
                      shown("cache.scope", s) + " does not name a header; expected one such as header:x-tenant");
            } else if (c_.listen.trusted.empty()) {
                error("cache.scope",
                      "\"" + s + "\" counts only from trusted peers and none is; name them in listen.trusted");
            }
        } else {
            error("cache.scope",
                  shown("cache.scope", s) + " is not accepted; expected credential, client, shared or header:NAME");
        }
        if (!c_.listen.trusted.empty() && !s.starts_with("header:")) {
            warn("listen.trusted", "has no effect: cache.scope is \"" + s + "\", not header:NAME");
        }
        if (!c_.cache.key_secret.empty() && c_.cache.key_secret.size() < 16) {
            warn("cache.key_secret", "is shorter than 16 bytes; a guessable secret protects little");
        }
    }

    void stores() {
        const auto& c = c_.cache;
        if (c.store == cache::tier::memory && c.memory == 0) {
            error("cache.memory",
                  "0 turns the memory tier off and cache.store is memory, so nothing would be stored; raise it, "
                  "or use the policy bypass");
        }
        if (c.memory != 0 && c.entry > c.memory) {
            warn("cache.entry", format_size(c.entry) + " is more than cache.memory (" + format_size(c.memory) +
                                    "); such answers are kept in the second tier only");
        }
        if (c.store != cache::tier::redis) return;
        if (c.redis.urls.size() > 1) error("cache.redis.urls", "topology standalone has one server; give one URL");
        for (const auto& url : c.redis.urls) {
            if (!url.starts_with("redis://") && !url.starts_with("rediss://") && !url.starts_with("unix://")) {
                error("cache.redis.urls", "\"" + mask_url(url) +
                                              "\" is not accepted; expected redis://HOST:PORT, "
                                              "rediss://HOST:PORT or unix:///PATH");
            }
        }
        tls("cache.redis.tls", c.redis.tls);
        if (c.redis.deadline > c.redis.total) {
            error("cache.redis.deadline", format_duration(c.redis.deadline) + " is longer than cache.redis.total (" +
                                              format_duration(c.redis.total) + ")");
        }
    }

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
            replicas(at, u);
        }
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

    void replicas(const std::string& at, upstream_pool& u) {
        std::set<std::string> ids, urls;
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
            if (!urls.insert(r.url).second)
                error(here + ".url", shown(here + ".url", r.url) + " is another replica of this upstream");
            own_address(here + ".url", *target);
            target->tls_options = u.tls;
            any_tls = any_tls || target->tls;
            r.at = std::move(*target);
        }
        if (!any_tls && u.tls != tls_settings{} && !u.replicas.empty()) {
            warn(at + ".tls", "has no effect: no replica's URL is https://");
        }
    }

    // A gateway that calls itself answers nothing and hangs until a deadline.
    void own_address(const std::string& path, const upstream::client::target& t) {
        const address there{t.host == "localhost" ? "127.0.0.1" : t.host, t.port};
        const auto& l = c_.listen.at;
        const bool same_host = there.host == l.host || (there.loopback() && (l.host == "0.0.0.0" || l.host == "::"));
        if (same_host && there.port == l.port) {
            error(path, "this is listen.address itself (" + format_address(l) + "); point it at the model's server");
        }
    }

    void own_credentials() {
        if (c_.listen.at.loopback() || !c_.listen.clients_file.empty()) return;
        for (std::size_t i = 0; i < c_.upstreams.size(); ++i) {
            if (!c_.upstreams[i].bearer) continue;
            error(indexed("upstreams", i) + ".credentials.bearer",
                  "everybody who reaches " + format_address(c_.listen.at) +
                      " could spend this credential; name the allowed callers in listen.clients, or listen on a "
                      "loopback address");
        }
    }

    void policies() {
        for (const auto& p : c_.policies) {
            if (!plain_name(p.name))
                error("policies." + p.name, "not a name; expected up to 64 letters, digits and - _ . : /");
            const std::string at = "policies." + p.name + ".strip_pointers";
            for (const pointer_problem& found : problems_of(p.strip_pointers)) {
                found.fatal ? error(at, found.message) : warn(at, found.message);
            }
            if (p.base == "bypass" && p.changes_bodies())
                error("policies." + p.name,
                      "a policy that extends bypass forwards bodies as they are; leave out nfc, "
                      "collapse_whitespace, trim and strip_pointers, or extend relaxed");
        }
    }

    void routes() {
        std::vector<std::string> upstream_names, policy_names;
        for (const auto& u : c_.upstreams) upstream_names.push_back(u.name);
        for (const auto& p : c_.policies) policy_names.push_back(p.name);
        if (c_.routes.empty() && c_.upstreams.size() > 1 && !l_.said.contains("routes")) {
            error("routes", "none, and there are several upstreams; say which requests go where");
        }
        std::map<std::string, std::size_t> names;
        for (std::size_t i = 0; i < c_.routes.size(); ++i) {
            const auto& r = c_.routes[i];
            const auto at = indexed("routes", i);
            if (!plain_name(r.name)) {
                error(at + ".name",
                      "\"" + r.name + "\" is not a name; expected up to 64 letters, digits and - _ . : /");
            } else if (const auto [it, fresh] = names.emplace(r.name, i); !fresh) {
                error(at + ".name", "\"" + r.name + "\" is already the name of " + indexed("routes", it->second));
            }
            if (r.upstream.empty()) {
                if (c_.upstreams.size() > 1)
                    error(at + ".upstream", "missing, and there are several; known: " + list(upstream_names));
            } else {
                known(at + ".upstream", "upstream", r.upstream, upstream_names);
            }
            known(at + ".policy", "policy", r.policy, policy_names);
            for (const auto& [name, text] : r.headers) {
                if (!token_text(name)) error(at + ".match.header", "\"" + name + "\" is not a header name");
            }
            if (!r.path.empty() && r.path.front() != '/' && r.path.front() != '*') {
                error(at + ".match.path", "\"" + r.path + "\" matches no path; paths start with /");
            }
            for (std::size_t j = 0; j < i; ++j) {
                if (shadows(c_.routes[j], r)) {
                    error(at, "never reached: " + indexed("routes", j) + " (" + c_.routes[j].name +
                                  ") matches all of its requests first; put this one before it, or narrow the other");
                    break;
                }
            }
        }
    }

    static bool shadows(const route& first, const route& second) {
        if (!covers(first.path, second.path) || !covers(first.model, second.model)) return false;
        return std::all_of(first.headers.begin(), first.headers.end(), [&](const auto& h) {
            return std::any_of(second.headers.begin(), second.headers.end(), [&](const auto& o) {
                return lower(h.first) == lower(o.first) &&
                       (h.second == o.second || (!h.second.empty() && covers(h.second, o.second)));
            });
        });
    }

    void known(const std::string& path, const std::string& what, const std::string& name,
               const std::vector<std::string>& all) {
        if (std::find(all.begin(), all.end(), name) != all.end() || (all.empty() && what == "upstream")) return;
        const auto near = nearest(name, all);
        error(path, "there is no " + what + " \"" + name + "\"; " +
                        (near ? "did you mean " + *near + "?" : "known: " + list(all)));
    }

    static std::string list(const std::vector<std::string>& names) {
        std::string out;
        for (const auto& n : std::set<std::string>(names.begin(), names.end())) out += (out.empty() ? "" : ", ") + n;
        return out;
    }

    void admin_rules() {
        const auto& a = c_.admin;
        if (!a.token.empty() && a.token == a.read_token) {
            error("admin.read_token", "is the same as admin.token, so readers could change everything; choose another");
        }
        if (!a.token.empty() && a.token.size() < 16) {
            warn("admin.token", "is shorter than 16 bytes; a guessable token protects little");
        }
        if (!a.at.loopback() && a.hosts.empty()) {
            warn("admin.hosts", "is empty while admin.address is " + format_address(a.at) +
                                    "; calls by any name but a loopback address get 421");
        }
    }

    loaded& l_;
    configuration& c_;
    const std::string& file_;
    const world& world_;
};

}  // namespace

void validate(loaded& l, const std::string& file, const world& w) {
    validator(l, file, w).run();
}

}  // namespace idem::gateway::config
