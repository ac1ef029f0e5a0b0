#include "gateway/cli/key.hpp"

#include <boost/json.hpp>
#include <fstream>
#include <iostream>
#include <iterator>

#include "gateway/pipeline/identify.hpp"

namespace idem::gateway::cli {

namespace {

std::optional<std::string> read_body(const std::string& file) {
    if (file == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
}

struct answer {
    std::string dialect, model, verdict, why, digest, canonical;
};

answer ask(const key_action& k, const std::string& body, const config::policy& policy, std::uint64_t cap) {
    upstream::http::request_head head;
    head.method = k.method;
    head.target = k.path;
    bool typed = false;
    for (const auto& [name, value] : k.headers) {
        head.headers.add(name, value);
        typed = typed || upstream::http::iequals(name, "content-type");
    }
    if (!typed) head.headers.add("content-type", "application/json");

    pipeline::identifier identifier;
    const auto id = identifier.identify(head, body, pipeline::treatment_of(policy), k.sample, cap);
    answer a;
    if (id.api != nullptr) a.dialect = id.api->name();
    a.model = id.call.model;
    if (id.refuse != reason::none) {
        a.verdict = "bypass";
        a.why = to_string(id.refuse);
        return a;
    }
    a.verdict = "cacheable";
    a.digest = to_hex(id.request.bytes);
    a.canonical = id.canonical;
    return a;
}

}  // namespace

int run_key(const key_action& k) {
    config::policy policy;
    policy.name = policy.base = "relaxed";
    std::uint64_t cap = config::listener{}.body;
    if (k.configured) {
        const auto got = config::load_from(k.from);
        for (const auto& e : got.result.errors) std::cerr << e.text() << "\n";
        if (!got.result.errors.empty()) return 1;
        cap = got.result.value.listen.body;
    }
    const auto body = read_body(k.file);
    if (!body) {
        std::cerr << "idem: " << k.file << " cannot be read\n";
        return 1;
    }
    const answer a = ask(k, *body, policy, cap);
    if (k.output == form::json) {
        const boost::json::object o{{"verdict", a.verdict},  {"reason", a.why},
                                    {"dialect", a.dialect},  {"model", a.model},
                                    {"digest", a.digest},    {"canonical", a.canonical},
                                    {"policy", policy.name}, {"key_version", cache::key_version}};
        std::cout << boost::json::serialize(o) << "\n";
    } else {
        std::cout << "verdict    " << a.verdict << (a.why.empty() ? "" : ": " + a.why) << "\n"
                  << "dialect    " << (a.dialect.empty() ? "none" : a.dialect) << "\n"
                  << "model      " << (a.model.empty() ? "-" : a.model) << "\n";
        if (!a.digest.empty()) std::cout << "digest     " << a.digest << "\ncanonical  " << a.canonical << "\n";
    }
    std::cout << std::flush;
    return a.digest.empty() ? 1 : 0;
}

}  // namespace idem::gateway::cli
