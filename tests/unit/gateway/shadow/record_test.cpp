#include "gateway/shadow/record.hpp"

#include <doctest/doctest.h>

#include <boost/json/serialize.hpp>

#include "cache/store/coordination.hpp"

using namespace idem;
using namespace idem::upstream::determinism;
namespace shadow = idem::gateway::shadow;

namespace {

shadow_divergence divergence(std::int64_t at) {
    shadow_divergence d;
    d.at = at;
    d.request = sha256("request");
    d.key = sha256("key");
    d.stored = sha256("stored");
    d.again = sha256("again");
    d.environment = sha256("e");
    d.environment_again = sha256("f");
    d.epoch.bytes[3] = 9;
    d.model = "m\"ü";
    d.dialect = "openai.chat";
    d.policy = "audit";
    d.replica = "a";
    d.replica_again = "b";
    d.byte = 18'446'744'073'709'551'615u;
    d.character = 2;
    d.token = 1;
    d.before = "x";
    d.stored_text = "y";
    d.again_text = "z";
    d.cause = blame::replica;
    d.blamed = "b";
    return d;
}

shadow_book sample() {
    shadow_book b;
    for (std::size_t i = 0; i < shadow_results; ++i)
        for (std::size_t n = 0; n <= i; ++n) b.count(static_cast<shadow_result>(i), "a");
    b.add(divergence(1'700'000'000'000));
    b.add(divergence(1'700'000'000'001));
    b.settle("b", 5);  // below nothing: it is a difference
    return b;
}

}  // namespace

TEST_CASE("a book is read as it was written") {
    CHECK(shadow::decode(shadow::encode(sample())) == sample());
    CHECK(shadow::decode(shadow::encode(shadow_book{})) == shadow_book{});
}

TEST_CASE("a book that does not parse is absent") {
    const std::string text = shadow::encode(sample());
    for (std::size_t cut = 0; cut < text.size(); cut += 7) CHECK_FALSE(shadow::decode(text.substr(0, cut)));
    for (const std::string_view word : {"\"runs\"", "\"format\":1", "\"seen\":2", "\"same\"", "\"blame\":\"replica\"",
                                        "\"openai.chat\"", "\"at\":1700000000000"}) {
        CAPTURE(word);
        const auto at = text.find(word);
        REQUIRE(at != std::string::npos);
        for (const std::string_view other : {"\"zzz\":[]", "7"}) {
            std::string changed = text;
            changed.replace(at, word.size(), other);
            CHECK_FALSE(shadow::decode(changed));
        }
    }
    for (const std::string_view huge : {"\"at\":9223372036854775807", "\"counted\":9223372036854775807"}) {
        std::string changed = text;
        const auto at = changed.find(huge.substr(0, huge.find(':') + 1));
        REQUIRE(at != std::string::npos);
        changed.replace(at, changed.find_first_of(",}", at) - at, huge);
        CHECK_FALSE(shadow::decode(changed));
    }
    for (const std::string_view bad : {"", "[]", "{}", "null", R"({"runs":1,"replicas":{},"divergences":[]})"})
        CHECK_FALSE(shadow::decode(bad));
}

TEST_CASE("a text that is not UTF-8 costs no counts") {
    shadow_book b = sample();
    b.divergences.back().model = "\xc3";
    CHECK(shadow::decode(shadow::encode(b)) == b);
}

TEST_CASE("a book that is too large for the store loses its oldest divergences") {
    shadow_book b;
    for (std::int64_t i = 0; i < 100; ++i) {
        shadow_divergence d = divergence(i);
        d.model = std::string(4000, 'm');
        b.add(std::move(d));
    }
    const std::string text = shadow::encode(b);
    CHECK(text.size() <= cache::longest_record);
    const auto read = shadow::decode(text);
    REQUIRE(read);
    REQUIRE_FALSE(read->divergences.empty());
    CHECK(read->divergences.back().at == 99);
    CHECK(read->seen == 100);
}

TEST_CASE("excerpts are shown only where there are any, and a score only where something was compared") {
    shadow_divergence d = divergence(1'700'000'000'000);
    CHECK(shadow::shown(d).at("first_difference").at("stored") == "y");
    d.before = d.stored_text = d.again_text = "";
    d.blamed = "";
    const auto quiet = shadow::shown(d);
    CHECK(quiet.at("first_difference").as_object().size() == 3);
    CHECK(quiet.at("blamed").is_null());
    CHECK(quiet.at("at") == "2023-11-14T22:13:20.000Z");
    shadow_book b;
    b.add(divergence(1));
    CHECK(shadow::summary(b).at("replicas").as_array().at(0).at("score").is_null());
    b.count(shadow_result::verified, "b");
    CHECK(shadow::summary(b).at("replicas").as_array().at(0).at("score") == 1.0);
}
