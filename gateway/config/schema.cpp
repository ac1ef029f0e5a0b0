#include "gateway/config/schema.hpp"

#include <array>

#include "gateway/config/bind.hpp"
#include "gateway/config/text.hpp"

namespace idem::gateway::config {

namespace {

using detail::elements;
using detail::member;
using upstream::client::tls_settings;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, tib = 1024 * 1024 * mib;
constexpr std::uint64_t second = 1000, minute = 60 * second, day = 24 * 60 * minute, year = 365 * day;

constexpr std::string_view engines = "generic|openai|anthropic|gemini|vllm|sglang|llamacpp|ollama|tgi|trtllm|lmdeploy";

constexpr std::array replica_keys{
    key{.path = "id",
        .help = "Name of the replica in headers, logs and metrics; r1, r2, … where not given.",
        .to = member<&replica::id>()},
    key{.path = "url",
        .type = kind::url,
        .help =
            "Where it listens: http:// or https://, with or without /v1. A path is put before each request's path; a "
            "doubled /v1 collapses.",
        .required = true,
        .example = "http://10.0.0.11:8000",
        .to = member<&replica::url>()},
};
constexpr section replica_section{"replica", "One server of an upstream.", replica_keys};

constexpr std::array upstream_keys{
    key{.path = "name",
        .help =
            "Name of the upstream in routes, keys, logs and metrics. Renaming it makes its stored answers unreachable.",
        .required = true,
        .example = "qwen",
        .to = member<&upstream_pool::name>()},
    key{.path = "engine",
        .type = kind::text,
        .fallback = "generic",
        .help = "What runs there.",
        .choices = engines,
        .to = member<&upstream_pool::engine>()},
    key{.path = "replicas",
        .type = kind::items,
        .help = "The servers that serve this model.",
        .required = true,
        .below = &replica_section,
        .to = elements<&upstream_pool::replicas>()},
    key{.path = "credentials",
        .fallback = "passthrough",
        .help = "Whose credentials the upstream sees: the client's own, unchanged.",
        .choices = "passthrough"},
    key{.path = "credentials.bearer",
        .type = kind::secret,
        .help = "Sent as `Authorization: Bearer …` in place of the client's credentials.",
        .example = "${QWEN_KEY}",
        .to = member<&upstream_pool::bearer>()},
    key{.path = "timeouts.connect",
        .type = kind::duration,
        .fallback = "2s",
        .help = "Name resolution, connection and TLS handshake together.",
        .least = 1,
        .most = 10 * minute,
        .to = member<&upstream_pool::connect>()},
    key{.path = "timeouts.first_byte",
        .type = kind::duration,
        .fallback = "120s",
        .help = "From the end of the request to the first byte of the answer: the time of a whole answer that is not "
                "streamed.",
        .least = 1,
        .most = day,
        .to = member<&upstream_pool::first_byte>()},
    key{.path = "timeouts.between_bytes",
        .type = kind::duration,
        .fallback = "60s",
        .help = "Longest silence inside an answer.",
        .least = 1,
        .most = day,
        .to = member<&upstream_pool::between_bytes>()},
    key{.path = "timeouts.total",
        .type = kind::duration,
        .fallback = "15m",
        .help = "Longest time of one call from start to end.",
        .least = 1,
        .most = day,
        .to = member<&upstream_pool::total>()},
    key{.path = "tls.verify",
        .type = kind::boolean,
        .fallback = "true",
        .help = "Verify the certificate of https:// replicas. Turn it off on test machines only.",
        .to = member<&upstream_pool::tls, &tls_settings::verify>()},
    key{.path = "tls.ca",
        .help = "PEM file with the authorities to trust; the system's where not given.",
        .to = member<&upstream_pool::tls, &tls_settings::ca_file>()},
    key{.path = "tls.certificate",
        .help = "PEM file with a client certificate.",
        .to = member<&upstream_pool::tls, &tls_settings::certificate_file>()},
    key{.path = "tls.key",
        .help = "PEM file with the client certificate's key.",
        .to = member<&upstream_pool::tls, &tls_settings::key_file>()},
    key{.path = "tls.server_name",
        .help = "Name to ask for (SNI) and to verify; the host of the URL where not given.",
        .to = member<&upstream_pool::tls, &tls_settings::server_name>()},
};
constexpr section upstream_section{"upstream", "A named pool of replicas that serve the same model.", upstream_keys};

constexpr std::array policy_keys{
    key{.path = "extends",
        .fallback = "relaxed",
        .help =
            "Policy whose values this one starts from: `relaxed` (cache, change nothing but usage), `bypass` (plain "
            "proxy), or another policy of this file.",
        .to = member<&policy::base>()},
    key{.path = "ttl",
        .type = kind::duration,
        .help = "How long answers live; cache.ttl where not given.",
        .least = second,
        .most = 100 * year,
        .example = "365d",
        .to = member<&policy::ttl>()},
    key{.path = "eligible",
        .type = kind::choice,
        .fallback = "any",
        .help = "Which calls are cached: any; seeded (temperature 0 or a seed given); greedy (temperature 0 only).",
        .choices = "any|seeded|greedy",
        .to = member<&policy::eligible>()},
    key{.path = "store_truncated",
        .type = kind::boolean,
        .fallback = "true",
        .help = "Store answers that ended at a length limit which the request itself set.",
        .to = member<&policy::store_truncated>()},
    key{.path = "store_filtered",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Store answers that a content filter ended.",
        .to = member<&policy::store_filtered>()},
    key{.path = "usage",
        .type = kind::choice,
        .fallback = "inject",
        .help = "inject: ask the upstream for token usage on streams and hide it from clients that did not ask; keep: "
                "change "
                "nothing.",
        .choices = "keep|inject",
        .to = member<&policy::usage_inject>()},
    key{.path = "finish_abandoned",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Let a call run to its end, and store it, when its last client has left.",
        .to = member<&policy::finish_abandoned>()},
    key{.path = "store_required",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Answer 503 instead of computing while the store cannot be asked: no second answer can come up.",
        .to = member<&policy::store_required>()},
    key{.path = "reject_malformed",
        .type = kind::boolean,
        .fallback = "false",
        .help = "Answer 400 to a body that is not well-formed JSON, instead of forwarding it uncached.",
        .to = member<&policy::reject_malformed>()},
};
constexpr section policies{"policy", "How strict a route is. `relaxed` and `bypass` are built in.", policy_keys};

constexpr std::array route_keys{
    key{.path = "name",
        .help = "Name of the route in logs; route-1, route-2, … where not given.",
        .to = member<&route::name>()},
    key{.path = "match.path",
        .help = "Path of the request, with * for any run of characters; any path where not given.",
        .example = "/v1/chat/*",
        .to = member<&route::path>()},
    key{.path = "match.model",
        .help = "Model that the request names, with * for any run of characters; any where not given.",
        .example = "qwen*",
        .to = member<&route::model>()},
    key{.path = "match.header",
        .type = kind::pairs,
        .help = "Request headers that must be there with these values, * for any run of characters. Names do not "
                "depend on case.",
        .example = "{x-scenario: audit}",
        .to = member<&route::headers>()},
    key{.path = "upstream",
        .help = "Upstream to send to; the only one where there is just one.",
        .example = "qwen",
        .to = member<&route::upstream>()},
    key{.path = "policy", .fallback = "relaxed", .help = "Policy of these requests.", .to = member<&route::policy>()},
};
constexpr section route_section{
    "route", "Matches requests to an upstream and a policy. The first match wins; one without match is the default.",
    route_keys};

constexpr std::array top_keys{
    key{.path = "listen.address",
        .type = kind::address,
        .fallback = "127.0.0.1:8080",
        .help = "Where clients connect. `:8080` is every IPv4 interface; port 0 picks a free one.",
        .to = member<&configuration::listen, &listener::at>()},
    key{.path = "listen.expose",
        .type = kind::choice,
        .fallback = "full",
        .help = "What answers tell about the cache: full (key, age, reason), minimal (hit or miss), none.",
        .choices = "full|minimal|none",
        .to = member<&configuration::listen, &listener::expose>()},
    key{.path = "listen.body",
        .type = kind::size,
        .fallback = "64MiB",
        .help = "Largest request body that is held to compute its key; larger ones are streamed through uncached.",
        .least = kib,
        .most = tib,
        .to = member<&configuration::listen, &listener::body>()},
    key{.path = "listen.connections",
        .type = kind::integer,
        .fallback = "10000",
        .help = "Most client connections at once; above it new ones get 503.",
        .least = 1,
        .most = 1'000'000,
        .to = member<&configuration::listen, &listener::connections>()},
    key{.path = "listen.threads",
        .type = kind::integer,
        .fallback = "0",
        .help = "I/O threads; 0: one a core, at most what the cgroup grants.",
        .most = 1024,
        .to = member<&configuration::listen, &listener::threads>()},
    key{.path = "listen.tls.certificate",
        .help = "PEM file with the certificate chain; turns TLS on, with listen.tls.key.",
        .to = member<&configuration::listen, &listener::tls_certificate>()},
    key{.path = "listen.tls.key",
        .help = "PEM file with the certificate's private key.",
        .to = member<&configuration::listen, &listener::tls_key>()},
    key{.path = "listen.tls.client_ca",
        .help = "PEM file with the authorities whose client certificates are accepted; makes a client certificate "
                "mandatory.",
        .to = member<&configuration::listen, &listener::tls_client_ca>()},
    key{.path = "listen.clients",
        .help = "File of the callers that are let in: a name and the SHA-256 (hex) of its keys per line; 401 for "
                "others. Every "
                "caller is let in where not given.",
        .to = member<&configuration::listen, &listener::clients_file>()},
    key{.path = "listen.trusted",
        .type = kind::texts,
        .help = "Addresses (CIDR) of peers whose scope header counts.",
        .example = "[10.0.0.0/8]",
        .to = member<&configuration::listen, &listener::trusted>()},
    key{.path = "listen.timeouts.head",
        .type = kind::duration,
        .fallback = "10s",
        .help = "From the first to the last byte of a request's head; also the TLS handshake.",
        .least = 100,
        .most = 10 * minute,
        .to = member<&configuration::listen, &listener::head_timeout>()},
    key{.path = "listen.timeouts.body_idle",
        .type = kind::duration,
        .fallback = "30s",
        .help = "Longest silence inside a request's body.",
        .least = 100,
        .most = 60 * minute,
        .to = member<&configuration::listen, &listener::body_idle>()},
    key{.path = "listen.timeouts.keep_alive",
        .type = kind::duration,
        .fallback = "75s",
        .help = "How long an idle connection is kept; told to clients as Keep-Alive: timeout.",
        .least = second,
        .most = day,
        .to = member<&configuration::listen, &listener::keep_alive>()},
    key{.path = "listen.timeouts.write_stall",
        .type = kind::duration,
        .fallback = "60s",
        .help = "A client that takes no byte for so long is cut off.",
        .least = 100,
        .most = day,
        .to = member<&configuration::listen, &listener::write_stall>()},
    key{.path = "listen.drain.delay",
        .type = kind::duration,
        .fallback = "0",
        .help = "After SIGTERM: how long new connections are still served while readiness already fails, so that load "
                "balancers notice.",
        .most = 60 * minute,
        .to = member<&configuration::listen, &listener::drain_delay>()},
    key{.path = "listen.drain.limit",
        .type = kind::duration,
        .fallback = "630s",
        .help = "After SIGTERM: how long running answers may take before they are cut.",
        .most = day,
        .to = member<&configuration::listen, &listener::drain_limit>()},

    key{.path = "admin.address",
        .type = kind::address,
        .fallback = "127.0.0.1:8081",
        .help = "Where the admin API, the probes and the metrics are served.",
        .to = member<&configuration::admin, &admin::at>()},
    key{.path = "admin.token",
        .type = kind::secret,
        .help = "Bearer token of the admin API; a random one is written to DATA/admin-token where not given.",
        .example = "${IDEM_ADMIN_TOKEN}",
        .to = member<&configuration::admin, &admin::token>()},
    key{.path = "admin.read_token",
        .type = kind::secret,
        .help = "Second token that may read but not change, and that never sees stored answers.",
        .to = member<&configuration::admin, &admin::read_token>()},
    key{.path = "admin.hosts",
        .type = kind::texts,
        .help = "Host names by which the admin API may be called besides loopback addresses (against DNS rebinding).",
        .example = "[idem.internal]",
        .to = member<&configuration::admin, &admin::hosts>()},
    key{.path = "health.address",
        .type = kind::address,
        .help =
            "Extra listener for /livez, /readyz and /metrics alone, for probes that cannot reach a loopback address.",
        .example = "0.0.0.0:9090",
        .to = member<&configuration::admin, &admin::health>()},

    key{.path = "cache.scope",
        .fallback = "credential",
        .help = "Whose answers may be shared: credential (each credential has its own), client (each name in "
                "listen.clients), shared (everybody), header:NAME (as a trusted peer's header says).",
        .to = member<&configuration::cache, &cache::scope>()},
    key{.path = "cache.key_secret",
        .type = kind::secret,
        .help =
            "Makes keys an HMAC, so that nobody who sees the store can confirm a guess. Changing it empties the cache.",
        .to = member<&configuration::cache, &cache::key_secret>()},
    key{.path = "cache.ttl",
        .type = kind::duration,
        .fallback = "30d",
        .help = "How long answers live.",
        .least = second,
        .most = 100 * year,
        .to = member<&configuration::cache, &cache::ttl>()},
    key{.path = "cache.stale",
        .type = kind::duration,
        .fallback = "7d",
        .help = "How long an expired answer is kept after its lifetime.",
        .most = 100 * year,
        .to = member<&configuration::cache, &cache::stale>()},
    key{.path = "cache.entry",
        .type = kind::size,
        .fallback = "4MiB",
        .help = "Largest answer that is stored; larger ones pass through.",
        .least = kib,
        .most = 512 * mib,
        .to = member<&configuration::cache, &cache::entry>()},
    key{.path = "cache.memory",
        .type = kind::share,
        .fallback = "256MiB",
        .help =
            "Memory tier; a percentage is of the cgroup's memory limit, or of the machine's memory. 0 turns it off.",
        .most = tib,
        .to = member<&configuration::cache, &cache::memory>()},
    key{.path = "cache.store",
        .type = kind::choice,
        .fallback = "embedded",
        .help = "Second tier: memory (none), embedded (a file below `data`), redis (shared by several gateways).",
        .choices = "memory|embedded|redis",
        .to = member<&configuration::cache, &cache::store>()},
    key{.path = "cache.embedded.path",
        .help = "Directory of the embedded store; `data` where not given.",
        .to = member<&configuration::cache, &cache::embedded_path>()},
    key{.path = "cache.embedded.size",
        .type = kind::size,
        .fallback = "4GiB",
        .help = "Most bytes that the embedded store keeps on disk.",
        .least = mib,
        .most = 1024 * tib,
        .to = member<&configuration::cache, &cache::embedded_size>()},
    key{.path = "cache.redis.urls",
        .type = kind::urls,
        .fallback = "[\"redis://127.0.0.1:6379\"]",
        .help = "redis://, rediss:// (TLS) or unix:// with a path; a database number may follow as /N.",
        .to = member<&configuration::cache, &cache::redis, &redis::urls>()},
    key{.path = "cache.redis.topology",
        .fallback = "standalone",
        .help = "How the servers stand together.",
        .choices = "standalone",
        .to = member<&configuration::cache, &cache::redis, &redis::topology>()},
    key{.path = "cache.redis.user",
        .help = "User of Redis' access lists.",
        .to = member<&configuration::cache, &cache::redis, &redis::user>()},
    key{.path = "cache.redis.password",
        .type = kind::secret,
        .help = "Password of that user, or of the server.",
        .example = "${REDIS_PASSWORD}",
        .to = member<&configuration::cache, &cache::redis, &redis::password>()},
    key{.path = "cache.redis.prefix",
        .fallback = "\"idem:\"",
        .help = "Put before every key in Redis.",
        .to = member<&configuration::cache, &cache::redis, &redis::prefix>()},
    key{.path = "cache.redis.deadline",
        .type = kind::duration,
        .fallback = "50ms",
        .help = "Longest wait for one command; after it the request goes on without the store.",
        .least = 1,
        .most = minute,
        .to = member<&configuration::cache, &cache::redis, &redis::deadline>()},
    key{.path = "cache.redis.total",
        .type = kind::duration,
        .fallback = "500ms",
        .help = "Longest wait to connect and sign in, and for the write of a large answer.",
        .least = 1,
        .most = 10 * minute,
        .to = member<&configuration::cache, &cache::redis, &redis::total>()},
    key{.path = "cache.redis.connections",
        .type = kind::integer,
        .fallback = "2",
        .help = "Connections of each thread.",
        .least = 1,
        .most = 64,
        .to = member<&configuration::cache, &cache::redis, &redis::connections>()},
    key{.path = "cache.redis.tls.verify",
        .type = kind::boolean,
        .fallback = "true",
        .help = "Verify the server's certificate.",
        .to = member<&configuration::cache, &cache::redis, &redis::tls, &tls_settings::verify>()},
    key{.path = "cache.redis.tls.ca",
        .help = "PEM file with the authorities to trust; the system's where not given.",
        .to = member<&configuration::cache, &cache::redis, &redis::tls, &tls_settings::ca_file>()},
    key{.path = "cache.redis.tls.certificate",
        .help = "PEM file with a client certificate.",
        .to = member<&configuration::cache, &cache::redis, &redis::tls, &tls_settings::certificate_file>()},
    key{.path = "cache.redis.tls.key",
        .help = "PEM file with the client certificate's key.",
        .to = member<&configuration::cache, &cache::redis, &redis::tls, &tls_settings::key_file>()},
    key{.path = "cache.redis.tls.server_name",
        .help = "Name to ask for (SNI) and to verify; the host of the URL where not given.",
        .to = member<&configuration::cache, &cache::redis, &redis::tls, &tls_settings::server_name>()},
    key{.path = "cache.compression",
        .type = kind::choice,
        .fallback = "zstd",
        .help = "Compression of stored answers in the second tier.",
        .choices = "none|zstd",
        .to = member<&configuration::cache, &cache::zstd>()},

    key{.path = "upstreams",
        .type = kind::items,
        .help = "The endpoints that answer. With `idem serve --upstream URL` none need be named.",
        .below = &upstream_section,
        .to = elements<&configuration::upstreams>()},
    key{.path = "policies",
        .type = kind::named,
        .help = "Policies of your own, by name.",
        .below = &policies,
        .to = elements<&configuration::policies>()},
    key{.path = "routes",
        .type = kind::items,
        .help = "Which request goes where; first match wins. With one upstream and no routes everything goes there, "
                "relaxed.",
        .below = &route_section,
        .to = elements<&configuration::routes>()},

    key{.path = "log.access",
        .type = kind::choice,
        .fallback = "json",
        .help = "One line per request on standard output, without prompts and credentials.",
        .choices = "json|off",
        .to = member<&configuration::observe, &observe::access_log>()},
    key{.path = "log.level",
        .fallback = "info",
        .help = "Least level of the messages on standard error.",
        .choices = "debug|info|warn|error",
        .to = member<&configuration::observe, &observe::log_level>()},
    key{.path = "log.format",
        .type = kind::choice,
        .fallback = "text",
        .help = "Form of the messages on standard error.",
        .choices = "text|json",
        .to = member<&configuration::observe, &observe::log_format>()},
    key{.path = "data",
        .fallback = "idem-data",
        .help = "Directory of everything that is written: the embedded store, the admin token.",
        .to = member<&configuration::data>()},
};
constexpr section top{"configuration", "Configuration of Idem.", top_keys};

std::string show_duration(std::uint64_t n) {
    return format_duration(milliseconds(static_cast<std::int64_t>(n)));
}

std::string flow(const std::vector<std::string>& list, bool mask) {
    std::string out = "[";
    for (const auto& item : list) {
        if (out.size() > 1) out += ", ";
        out += yaml_scalar(mask ? mask_url(item) : item);
    }
    return out + "]";
}

}  // namespace

const section& schema() {
    return top;
}
const section& policy_section() {
    return policies;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> out;
    while (true) {
        const auto at = text.find(separator);
        out.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return out;
        text.remove_prefix(at + 1);
    }
}

std::string range(const key& k) {
    const auto show = [&](std::uint64_t n) {
        return k.type == kind::integer    ? std::to_string(n)
               : k.type == kind::duration ? show_duration(n)
                                          : format_size(n);
    };
    std::string out;
    if (k.least > 0) out += ", from " + show(k.least);
    if (k.most != ~0ull) out += (k.least > 0 ? " to " : ", at most ") + show(k.most);
    return out;
}

std::string expected(const key& k) {
    if (!k.choices.empty()) {
        std::string out = "one of";
        for (const auto word : split(k.choices, '|')) out += (out.size() > 6 ? ", " : " ") + std::string(word);
        return split(k.choices, '|').size() == 1 ? std::string(k.choices) : out;
    }
    switch (k.type) {
        case kind::boolean:
            return "true or false";
        case kind::integer:
            return "a whole number" + range(k);
        case kind::size:
            return "a size such as 64MiB or 4GiB" + range(k);
        case kind::share:
            return "a size such as 256MiB, a share such as 40%, or 0" + range(k);
        case kind::duration:
            return "a duration such as 50ms, 30s, 15m or 30d" + range(k);
        case kind::address:
            return "ADDRESS:PORT such as 127.0.0.1:8080, [::1]:8080 or :8080";
        case kind::choice:
            break;
        case kind::text:
            return "text";
        case kind::secret:
            return "text, ${VARIABLE} or {file: PATH}";
        case kind::url:
            return "a URL";
        case kind::texts:
            return "a list of texts";
        case kind::urls:
            return "a list of URLs";
        case kind::pairs:
            return "a mapping of names to texts";
        case kind::items:
            return "a list of mappings";
        case kind::named:
            return "a mapping of names to mappings";
    }
    return {};
}

std::string written(const key& k, const value& v) {
    switch (k.type) {
        case kind::boolean:
            return v.number != 0 ? "true" : "false";
        case kind::integer:
            return std::to_string(v.number);
        case kind::size:
        case kind::share:
            return format_size(v.number);
        case kind::duration:
            return show_duration(v.number);
        case kind::address:
            return yaml_scalar(format_address(v.at));
        case kind::choice:
            return std::string(split(k.choices, '|').at(v.number));
        case kind::text:
            return yaml_scalar(v.text);
        case kind::secret:
            return "\"***\"";
        case kind::url:
            return yaml_scalar(mask_url(v.text));
        case kind::texts:
            return flow(v.list, false);
        case kind::urls:
            return flow(v.list, true);
        case kind::pairs: {
            std::string out = "{";
            for (const auto& [name, text] : v.pairs) {
                out += (out.size() > 1 ? ", " : "") + yaml_scalar(name) + ": " + yaml_scalar(text);
            }
            return out + "}";
        }
        case kind::items:
        case kind::named:
            break;
    }
    return {};
}

}  // namespace idem::gateway::config
