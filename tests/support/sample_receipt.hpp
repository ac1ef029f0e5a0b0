#pragma once
// A fixed key and a fixed answer, for receipts that come out the same every time.
#include <memory>
#include <string>

#include "gateway/receipts/keys.hpp"
#include "gateway/receipts/statement.hpp"

namespace idem::test {

/// The first test key of RFC 8032, section 7.1.
inline gateway::receipts::signing_key rfc8032_key() {
    std::string error;
    return *gateway::receipts::signing_key::from_pem(
        "-----BEGIN PRIVATE KEY-----\n"
        "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
        "-----END PRIVATE KEY-----\n",
        error);
}

inline gateway::receipts::key_ring ring_of(const gateway::receipts::signing_key& key) {
    std::string error;
    return *gateway::receipts::key_ring::from_pem(key.public_pem(), error);
}

inline digest filled(std::uint8_t with) {
    digest d;
    d.bytes.fill(with);
    return d;
}
inline id128 filled_id(std::uint8_t with) {
    id128 d;
    d.bytes.fill(with);
    return d;
}

inline std::shared_ptr<const upstream::determinism::environment> sample_facts() {
    using upstream::determinism::provenance;
    auto e = std::make_shared<upstream::determinism::environment>();
    e->add({"engine_version", "0.33.0", provenance::reported});
    e->add({"gpu", "NVIDIA H200", provenance::declared});
    e->add({"driver", "", provenance::unknown});
    return e;
}

inline std::shared_ptr<cache::entry> sample_answer() {
    auto e = std::make_shared<cache::entry>();
    e->key = {filled(0xaa)};
    e->request = filled(0xbb);
    e->fill = filled_id(0x0f);
    e->epoch = filled_id(0xe0);
    e->environment = sample_facts()->id();
    e->promise = {upstream::determinism::level::replica, upstream::determinism::isolation::serial, 9};
    e->created = 1'796'094'258'470;
    e->dialect = "openai.chat";
    e->model = "qwen-\xc3\xa9";
    e->upstream = "qwen";
    e->replica = "a";
    e->tokens = upstream::dialect::usage{8, 1};
    e->body =
        R"({"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"7"},"finish_reason":"stop"}]})";
    e->output = sha256(*upstream::dialect::by_name("openai.chat")->normalised(e->form, e->body));
    return e;
}

inline gateway::receipts::circumstances sample_circumstances() {
    return {"audit", filled(0x77), filled(0xcc), sample_facts()};
}

}  // namespace idem::test
