#include "gateway/config/validate.hpp"

#include "cache/entry/keyring.hpp"
#include "cache/policy/clients.hpp"
#include "gateway/config/text.hpp"
#include "gateway/config/validate_rules.hpp"

namespace idem::gateway::config {

namespace {

using rules::token_text;

class validator : rules::validation {
public:
    using validation::validation;

    void run() {
        listener_rules();
        ports();
        scope();
        stores();
        encryption();
        rules::check_upstreams(l_, file_, world_);
        rules::check_policies_and_routes(l_, file_, world_);
        admin_rules();
        limit_rules();
        receipt_rules();
    }

private:
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

    void encryption() {
        const std::string at = "cache.encryption.key_file", &file = c_.cache.key_file;
        if (file.empty()) return;
        if (c_.cache.store == cache::tier::memory) warn(at, "has no effect: the store memory keeps nothing at rest");
        const auto text = world_.read_file(file);
        if (!text) return error(at, "the file \"" + file + "\" cannot be read");
        const auto read = idem::cache::keyring::parse(*text);
        if (!read.fault.empty()) error(at, "the file \"" + file + "\", " + read.fault);
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

    void receipt_rules() {
        if (c_.receipts.heads == receipts::sink::redis && c_.cache.store != cache::tier::redis)
            error("receipts.sink", "redis needs cache.store redis");
    }

    void limit_rules() {
        const auto& l = c_.limits;
        if (l.calls != 0 && l.caller_calls > l.calls) {
            warn("limits.caller.calls", "is more than limits.calls (" + std::to_string(l.calls) +
                                            "), so one caller alone can keep all others out");
        }
        if (l.burst != 0 && l.per_minute == 0) {
            error("limits.caller.burst", "has no meaning without limits.caller.per_minute");
        }
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
};

}  // namespace

void validate(loaded& l, const std::string& file, const world& w) {
    validator(l, file, w).run();
}

}  // namespace idem::gateway::config
