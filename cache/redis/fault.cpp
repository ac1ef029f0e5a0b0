#include "cache/redis/fault.hpp"

#include <array>

namespace idem::cache::redis {
namespace {

struct entry {
    std::string_view word;
    std::string_view code;  // first word of the error reply; empty where there is none
    std::string_view meaning;
};

constexpr std::string_view cluster = "this is a Redis Cluster node; a cluster is not supported by topology: standalone";

// In the order of the enum; a unit test fails if the two drift apart.
constexpr std::array<entry, static_cast<std::size_t>(fault::count_)> table = {{
    {"", "", ""},
    {"connect_failed", "", "cannot connect: name resolution, connect or TLS handshake failed"},
    {"closed", "", "Redis closed the connection"},
    {"timeout", "", "Redis did not answer within the deadline"},
    {"malformed", "", "the peer does not speak RESP2: connection closed"},
    {"reply_too_large", "", "a reply above the entry cap: connection closed; do all gateways share one cache.entry?"},
    {"unexpected_reply", "", "a reply that answers no command: connection closed"},
    {"desync", "", "PING came back with another nonce: connection closed"},
    {"stranger", "",
     "the entry of another key stands under this name, or replies no longer match commands: connection closed"},
    {"not_connected", "", "no connection: waiting before the next attempt"},
    {"overloaded", "", "too many commands are queued for Redis"},
    {"shut_down", "", "the store is closing"},
    {"loading", "LOADING", "Redis is loading its data set"},
    {"masterdown", "MASTERDOWN", "a replica that lost its master and may not serve stale data"},
    {"busy", "BUSY", "a script blocks Redis"},
    {"noauth", "NOAUTH", "Redis wants a password: set cache.redis.user and cache.redis.password"},
    {"wrongpass", "WRONGPASS", "Redis refused cache.redis.user or cache.redis.password"},
    {"noperm", "NOPERM", "the ACL user may not run a command or touch a key: see the ACL line in cache/README.md"},
    {"readonly", "READONLY", "connected to a read-only replica: nothing is stored"},
    {"oom", "OOM", "Redis is above maxmemory and evicts nothing: nothing is stored"},
    {"misconf", "MISCONF", "Redis cannot save to disk and refuses writes: nothing is stored"},
    {"noreplicas", "NOREPLICAS", "too few replicas for min-replicas-to-write: nothing is stored"},
    {"wrongtype", "WRONGTYPE", "a name of ours holds something that is not a string: left alone"},
    {"execabort", "EXECABORT", "Redis discarded a transaction"},
    {"noscript", "NOSCRIPT", "Redis forgot a script: it is sent again"},
    {"unblocked", "UNBLOCKED", "a command was unblocked from outside"},
    {"moved", "MOVED", cluster},
    {"ask", "ASK", cluster},
    {"tryagain", "TRYAGAIN", cluster},
    {"clusterdown", "CLUSTERDOWN", cluster},
    {"crossslot", "CROSSSLOT", cluster},
    {"syntax_error", "", "Redis before 7: SET with NX and GET is done by a script"},
    {"unknown_command", "", "Redis does not know a command that Idem needs"},
    {"other_error", "", "Redis answered with an error that has no code of its own"},
}};

[[nodiscard]] const entry& of(fault f) noexcept {
    const auto i = static_cast<std::size_t>(f);
    return table[i < table.size() ? i : static_cast<std::size_t>(fault::other_error)];
}

[[nodiscard]] std::string_view first_word(std::string_view text) noexcept {
    return text.substr(0, text.find_first_of(" \r\n"));
}

[[nodiscard]] fault by_code(std::string_view code) noexcept {
    for (std::size_t i = 1; i < table.size(); ++i) {
        if (!table[i].code.empty() && table[i].code == code) {
            return static_cast<fault>(i);
        }
    }
    return fault::other_error;
}

}  // namespace

std::string_view to_string(fault f) noexcept {
    return of(f).word;
}

std::string_view explain(fault f) noexcept {
    return of(f).meaning;
}

fault classify(std::string_view text) noexcept {
    const std::string_view code = first_word(text);
    if (code != "ERR") {
        return by_code(code);
    }
    const std::string_view rest = text.substr(code.size());
    if (rest.starts_with(" syntax error")) {
        return fault::syntax_error;
    }
    if (rest.starts_with(" unknown command") || rest.starts_with(" Unknown subcommand") ||
        rest.starts_with(" unknown subcommand")) {
        return fault::unknown_command;
    }
    if (rest.starts_with(" AUTH ") || rest.starts_with(" invalid password")) {
        return fault::wrongpass;
    }
    if (rest.starts_with(" Error running script")) {
        if (const auto at = rest.find(": -"); at != std::string_view::npos) {
            return by_code(first_word(rest.substr(at + 3)));
        }
    }
    return fault::other_error;
}

bool is_outage(fault f) noexcept {
    switch (f) {
        case fault::connect_failed:
        case fault::closed:
        case fault::timeout:
        case fault::malformed:
        case fault::reply_too_large:
        case fault::unexpected_reply:
        case fault::desync:
        case fault::stranger:
        case fault::loading:
        case fault::masterdown:
        case fault::busy:
        case fault::noauth:
        case fault::wrongpass:
        case fault::noperm:
        case fault::moved:
        case fault::ask:
        case fault::tryagain:
        case fault::clusterdown:
            return true;
        default:
            return false;
    }
}

bool refuses_writes(fault f) noexcept {
    return f == fault::readonly || f == fault::oom || f == fault::misconf || f == fault::noreplicas;
}

reason reason_of(fault f) noexcept {
    switch (f) {
        case fault::none:
            return reason::none;
        case fault::timeout:
            return reason::store_timeout;
        case fault::reply_too_large:
            return reason::entry_too_large;
        case fault::wrongtype:
            return reason::entry_unreadable;
        default:
            return reason::store_unavailable;
    }
}

}  // namespace idem::cache::redis
