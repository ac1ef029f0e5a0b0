#include "upstream/determinism/prober.hpp"

#include <algorithm>

#include "upstream/determinism/fact_reader.hpp"
#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::determinism {

namespace {

constexpr std::size_t answer_cap = std::size_t{8} << 20;
/// Facts that are not told in this time are not read: no endpoint that is asked here computes anything.
constexpr net::duration usual_patience = std::chrono::seconds(5);

// A server that offers no such endpoint, or keeps it from us, says so with one of these; anything else may pass.
bool not_offered(unsigned status) noexcept {
    return status >= 400 && status < 500 && status != 408 && status != 425 && status != 429;
}

}  // namespace

prober::prober(client::pool& connections, const client::target& to, client::timeouts limits,
               const engine::probe_plan& plan, std::function<http::fields()> credential)
    : connections_(connections), to_(to), limits_(limits), plan_(plan), credential_(std::move(credential)) {}

net::task<client::fetched> prober::get(std::string path, net::duration patience) {
    client::outgoing ask;
    ask.method = "GET";
    ask.headers = credential_();
    client::timeouts limits = limits_;
    limits.first_byte = std::min(limits.first_byte, patience);
    limits.between_bytes = std::min(limits.between_bytes, patience);
    limits.total = std::min(limits.total, 2 * patience);
    limits.connect = std::min(limits.connect, patience);
    co_return co_await client::fetch(connections_, to_, limits, std::move(ask), std::move(path), {}, answer_cap);
}

net::task<prober::health> prober::check_health(bool slowly, net::duration patience) {
    const std::string_view path = slowly && !plan_.slow_health.empty() ? plan_.slow_health : plan_.health;
    health h;
    if (path.empty()) {
        h.reached = h.good = true;
        co_return h;
    }
    const client::fetched got = co_await get(std::string(path), patience);
    h.reached = got.status != 0;
    // Behind a proxy, or with a key that we lack, the endpoint may be kept from us by a server that lives.
    h.good = !got.broke && (got.status == 200 || not_offered(got.status));
    if (!h.good) {
        h.detail = got.broke ? got.broke.detail.empty() ? std::string(to_string(got.broke.why)) : got.broke.detail
                             : std::string(path) + " answers " + std::to_string(got.status);
    }
    co_return h;
}

net::task<prober::reading> prober::read_facts() {
    reading r;
    environment made;
    for (const engine::probe& p : plan_.facts) {
        client::fetched got = co_await get(std::string(p.path), usual_patience);
        if (!got.broke && not_offered(got.status) && !p.older.empty()) {
            client::fetched older = co_await get(std::string(p.older), usual_patience);
            got = std::move(older);
        }
        if (got.broke || (got.status != 200 && !not_offered(got.status))) {
            // Half a reading would look like another environment.
            r.detail = std::string(p.path) + ": " +
                       (got.broke ? std::string(to_string(got.broke.why)) : "status " + std::to_string(got.status));
            co_return r;
        }
        if (got.status == 200) determinism::read_facts(made, got.body, p.facts);
    }
    r.facts = std::move(made);
    co_return r;
}

net::task<std::string> prober::find_model() {
    const client::fetched got = co_await get("/v1/models", usual_patience);
    std::string model;
    if (!got.broke && got.status == 200) model = first_model(got.body);
    co_return model;
}

net::task<prober::answer> prober::run(golden_prompt prompt) {
    answer a;
    client::outgoing ask;
    ask.method = "POST";
    ask.headers = credential_();
    ask.headers.add("Content-Type", "application/json");
    ask.headers.add("Accept-Encoding", "identity");
    const client::fetched got = co_await client::fetch(connections_, to_, limits_, std::move(ask), prompt.path,
                                                       prompt.body, answer_cap, &running_);
    if (got.broke) {
        a.detail = to_string(got.broke.why);
        co_return a;
    }
    if (got.status != 200) {
        a.detail = "status " + std::to_string(got.status);
        co_return a;
    }
    const dialect::dialect* api = dialect::find("POST", prompt.path);
    if (!api) {
        a.detail = "no API has the path " + prompt.path;
        co_return a;
    }
    dialect::call c = api->read(prompt.body);
    c.wanted = dialect::form::json;
    const auto watcher = api->watch(dialect::form::json, c);
    watcher->feed(got.body);
    const dialect::verdict v = watcher->finish(true);
    const auto words = v.normalised ? v.normalised : api->normalised(dialect::form::json, got.body);
    if (v.refuse != reason::none || !words) {
        a.detail = to_string(v.refuse == reason::none ? reason::answer_malformed : v.refuse);
        co_return a;
    }
    a.output = golden_output{sha256(*words), v.tokens ? v.tokens->input : 0};
    a.fingerprint = v.fingerprint;
    co_return a;
}

void prober::give_up() noexcept {
    if (running_) running_->abort();
}

}  // namespace idem::upstream::determinism
