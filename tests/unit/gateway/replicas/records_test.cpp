#include "gateway/replicas/records.hpp"

#include <doctest/doctest.h>

using namespace idem;
using namespace idem::gateway::replicas;
using namespace idem::upstream::determinism;

namespace {

finding sample() {
    finding f;
    f.now.state = replica_state::quarantined;
    f.now.why = cause::output_differs;
    f.now.detail = "golden prompt \"x\" ü";
    f.now.runs = 7;
    f.now.diverging = true;
    f.now.fingerprint = "vllm-1";
    f.now.since = 1'700'000'000'123;
    environment e;
    e.add({"engine_version", "1", provenance::reported});
    e.add({"gpu", "", provenance::unknown});
    f.now.facts = std::make_shared<const environment>(e);
    f.now.environment = e.id();
    f.outputs = {{sha256("o"), 18'446'744'073'709'551'615u}};
    f.orders_done = 9;
    f.checked = 1'700'000'000'456;
    return f;
}

}  // namespace

TEST_CASE("what was found is read as it was written") {
    const finding f = sample();
    const auto read = decode_finding(encode(f));
    REQUIRE(read);
    CHECK(read->now.state == f.now.state);
    CHECK(read->now.why == f.now.why);
    CHECK(read->now.detail == f.now.detail);
    CHECK(read->now.runs == f.now.runs);
    CHECK(read->now.diverging == f.now.diverging);
    CHECK(read->now.fingerprint == f.now.fingerprint);
    CHECK(read->now.since == f.now.since);
    CHECK(read->now.environment == f.now.environment);
    REQUIRE(read->now.facts);
    CHECK(*read->now.facts == *f.now.facts);
    CHECK(read->outputs == f.outputs);
    CHECK(read->orders_done == f.orders_done);
    CHECK(read->checked == f.checked);
    CHECK(decode_finding(encode(finding{}))->now.facts == nullptr);
}

TEST_CASE("wishes and references are read as they were written") {
    for (const std::string_view word : {"quarantine", "drain", "readmit", "attest", "record", "suspect"}) {
        const wish w{*wish_from(word), 3};
        CHECK(to_string(w.is) == word);
        const auto read = decode_wish(encode(w));
        REQUIRE(read);
        CHECK(read->is == w.is);
        CHECK(read->number == 3);
    }
    CHECK(!wish_from("shoot"));
    const reference r{{{1, 2, 3}}, sha256("prompts"), {{sha256("a"), 1}, {sha256("b"), 2}}, "operator", "vllm-1"};
    CHECK(decode_reference(encode(r)) == r);
}

TEST_CASE("a record that is damaged, of another kind or a newer format is absent") {
    for (const std::string& good : {encode(sample()), encode(wish{}), encode(reference{})}) {
        for (std::size_t size = 0; size < good.size(); ++size) {
            CHECK(!decode_finding(good.substr(0, size)));
            CHECK(!decode_wish(good.substr(0, size)));
            CHECK(!decode_reference(good.substr(0, size)));
        }
        std::string newer = good;
        newer.replace(newer.find("\"format\":1"), 10, "\"format\":2");
        CHECK(!decode_finding(newer));
        CHECK(!decode_wish(newer));
        CHECK(!decode_reference(newer));
    }
    CHECK(!decode_finding(encode(wish{})));
    CHECK(!decode_wish(encode(reference{})));
    CHECK(!decode_reference(encode(sample())));
    CHECK(!decode_wish(R"({"format":1,"wish":"shoot","number":1})"));
    CHECK(!decode_wish(R"({"format":1,"wish":"attest","number":-1})"));
}
