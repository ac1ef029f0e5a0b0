#include "gateway/receipts/statement.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gateway/receipts/envelope.hpp"
#include "tests/support/sample_receipt.hpp"

using namespace idem;
using namespace idem::gateway::receipts;
using namespace idem::test;

namespace {

const signing_key key = rfc8032_key();

std::string receipt() {
    return seal(statement_of(*sample_answer(), sample_circumstances(), key.id()), key);
}

}  // namespace

TEST_CASE("golden: a receipt") {
    const auto golden = std::filesystem::path(IDEM_SOURCE_DIR) / "tests/golden/receipt.json";
    if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(golden, std::ios::binary) << receipt();
    std::ostringstream expected;
    expected << std::ifstream(golden, std::ios::binary).rdbuf();
    CHECK(receipt() == expected.str());
    const std::string text = expected.str();  // `opened` views it
    const opened o = unseal(text, receipt_type, ring_of(key));
    CHECK(o.error == "");
    CHECK(check_statement(o.statement) == "");
}

TEST_CASE("whatever byte of a receipt is changed, it is noticed") {
    const std::string text = receipt();
    const key_ring ring = ring_of(key);
    for (std::size_t i = 0; i < text.size(); ++i)
        for (const int bit : {0x01, 0x20, 0x80, 0xff}) {
            std::string changed = text;
            changed[i] = static_cast<char>(changed[i] ^ bit);
            if (unseal(changed, receipt_type, ring).error.empty()) FAIL_CHECK("byte " << i);
        }
}

TEST_CASE("whatever byte of the entry is changed, it is noticed") {
    const auto e = sample_answer();
    const std::string statement = statement_of(*e, sample_circumstances(), key.id());
    CHECK(check_entry(statement, e->body) == entry_check::same);
    for (std::size_t i = 0; i < e->body.size(); ++i)
        for (unsigned c = 0; c < 256; ++c) {
            std::string changed = e->body;
            changed[i] = static_cast<char>(c);
            if (changed != e->body && check_entry(statement, changed) == entry_check::same) FAIL_CHECK("byte " << i);
        }
    CHECK(check_entry(statement, "") == entry_check::differs);
    CHECK(check_entry("{}", e->body) == entry_check::unreadable);
    CHECK(check_entry("", e->body) == entry_check::unreadable);
}

TEST_CASE("the same output in another form is told apart from another output") {
    const auto e = sample_answer();
    const std::string statement = statement_of(*e, sample_circumstances(), key.id());
    const auto* api = upstream::dialect::by_name("openai.chat");
    const auto stream = api->split(e->body, false);
    REQUIRE(stream);
    CHECK(check_entry(statement, *stream) == entry_check::same_output);
    std::string other = *stream;
    other.replace(other.find("\"7\""), 3, "\"8\"");
    CHECK(check_entry(statement, other) == entry_check::differs);
}

TEST_CASE("facts that are not those of the environment id are told") {
    std::string statement = statement_of(*sample_answer(), sample_circumstances(), key.id());
    const auto at = statement.find("NVIDIA H200");
    REQUIRE(at != std::string::npos);
    statement.replace(at, 11, "NVIDIA H100");
    CHECK(check_statement(statement) != "");
    CHECK(check_statement("[]") != "");
    CHECK(check_statement(R"({"environment":{"facts":7}})") != "");
    CHECK(check_statement("{}") == "");
}

TEST_CASE("facts of another environment are left out") {
    auto e = sample_answer();
    e->environment = filled(1);
    CHECK(statement_of(*e, sample_circumstances(), key.id()).find("facts") == std::string::npos);
    circumstances none = sample_circumstances();
    none.facts = nullptr;
    CHECK(statement_of(*sample_answer(), none, key.id()).find("facts") == std::string::npos);
}

TEST_CASE("names that are not text are shown as bytes") {
    auto e = sample_answer();
    e->model = "m\xff";
    CHECK(statement_of(*e, sample_circumstances(), key.id()).find(R"("model":"hex:6dff")") != std::string::npos);
}

TEST_CASE("the prompt's token ids, where an answer carries them") {
    CHECK(prompt_token_digest(R"({"prompt_token_ids":[1, 2,30]})") == sha256("[1,2,30]"));
    CHECK(prompt_token_digest(R"({"choices":[{"prompt_token_ids":[5]}]})") == sha256("[5]"));
    CHECK(prompt_token_digest(R"({"prompt_token_ids":null})") == std::nullopt);
    CHECK(prompt_token_digest(R"({"prompt_token_ids":["a"]})") == std::nullopt);
    CHECK(prompt_token_digest(R"({"choices":[]})") == std::nullopt);
    CHECK(prompt_token_digest("prompt_token_ids") == std::nullopt);
}
