#include "gateway/receipts/envelope.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/support/sample_receipt.hpp"

using namespace idem;
using namespace idem::gateway::receipts;
using namespace idem::test;

namespace {

const signing_key key = rfc8032_key();
const key_ring ring = ring_of(key);
const std::string statement =
    canonical(R"({"type":"t","signer":")" + key.id() + R"(","n":1.0,"b":"é","a":{"y":[],"x":{}}})");

}  // namespace

TEST_CASE("a key of RFC 8032 gives its public half and its signature") {
    CHECK(key.public_pem() ==
          "-----BEGIN PUBLIC KEY-----\n"
          "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
          "-----END PUBLIC KEY-----\n");
    CHECK(key.id() == "21fe31dfa154a261626bf854046fd227");  // of SHA-256 of d75a9801…511a
    const std::string signature = key.sign("");
    CHECK(to_hex({reinterpret_cast<const std::uint8_t*>(signature.data()), signature.size()}) ==
          "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595"
          "bbe24655141438e7a100b");
    CHECK(ring.has(key.id()));
    CHECK(ring.verify(key.id(), "", signature));
    CHECK_FALSE(ring.verify(key.id(), "x", signature));
    CHECK_FALSE(ring.verify(key.id(), "", ""));
}

TEST_CASE("keys that are none") {
    std::string error;
    CHECK_FALSE(signing_key::from_pem("", error));
    CHECK(error.find("PEM") != std::string::npos);
    CHECK_FALSE(signing_key::from_pem(key.public_pem(), error));
    CHECK_FALSE(key_ring::from_pem("nonsense", error));
    CHECK_FALSE(key_ring::from_pem(key.pem(), error));
    const auto other = signing_key::create();
    REQUIRE(other);
    const auto both = key_ring::from_pem(key.public_pem() + "# the next\n" + other->public_pem(), error);
    REQUIRE(both);
    CHECK(both->size() == 2);
    CHECK(both->has(other->id()));
    CHECK(signing_key::from_pem(other->pem(), error)->id() == other->id());
}

TEST_CASE("what was signed is opened") {
    const std::string text = seal(statement, key);
    CHECK(statement == R"({"a":{"x":{},"y":[]},"b":"é","n":1,"signer":")" + key.id() + R"(","type":"t"})");
    const opened o = unseal(text, "t", ring);
    CHECK(o.error == "");
    CHECK(o.statement == statement);
    CHECK(o.signer == key.id());
    CHECK(unseal(text, "u", ring).error != "");
    CHECK(unseal(text, "t", ring_of(*signing_key::create())).error.find("not among") != std::string::npos);
}

TEST_CASE("whatever byte is changed to whatever, or dropped, or put in, it is noticed") {
    const std::string text = seal(statement, key);
    for (std::size_t i = 0; i < text.size(); ++i) {
        for (unsigned c = 0; c < 256; ++c) {
            std::string changed = text;
            changed[i] = static_cast<char>(c);
            if (changed != text && unseal(changed, "t", ring).error.empty()) FAIL_CHECK(i << " to " << c);
        }
        std::string less = text, more = text;
        less.erase(i, 1);
        more.insert(i, " ");
        CHECK(unseal(less, "t", ring).error != "");
        CHECK(unseal(more, "t", ring).error != "");
        CHECK(unseal(text.substr(0, i), "t", ring).error != "");
    }
}

TEST_CASE("hostile texts") {
    CHECK(rc::check("nothing is good that was not signed",
                    [](const std::string& text) { RC_ASSERT(!unseal(text, "t", ring).error.empty()); }));
    CHECK(unseal(std::string(longest_signed + 1, 'x'), "t", ring).error != "");
}
