// Which things a batched call asks for, each once, and where their answers go.
#include "gateway/pipeline/items.hpp"

#include <doctest/doctest.h>

#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::gateway::pipeline;

namespace {

struct known {
    identity id;
    std::vector<item_identity> items;
};

known ask(const std::string& body) {
    static identifier identifies;
    upstream::http::request_head head;
    head.method = "POST";
    head.target = "/v1/embeddings";
    known k{identifies.identify(head, body, 0, 1U << 20U), {}};
    REQUIRE(k.id.refuse == reason::none);
    k.items = identifies.items_of(k.id);
    return k;
}

item_batch batch(const std::string& body) {
    const known k = ask(body);
    std::vector<cache::cache_key> keys;
    for (const item_identity& i : k.items) keys.push_back({i.request});
    return batch_of(*k.id.api->batches(), k.items, keys);
}

}  // namespace

TEST_CASE("an input is one thing, however a call writes it down") {
    const auto one = ask(R"({"model":"m","input":"a"})");
    const auto listed = ask(R"({ "input": ["\u0061"], "model": "m", "encoding_format": "base64", "user": "x" })");
    const auto many = ask(R"({"model":"m","input":["b","a"]})");
    REQUIRE(one.items.size() == 1);
    REQUIRE(listed.items.size() == 1);
    REQUIRE(many.items.size() == 2);
    CHECK(one.items[0].request == listed.items[0].request);
    CHECK(one.items[0].request == many.items[1].request);
    CHECK(one.items[0].canonical_size == many.items[1].canonical_size);
    CHECK(many.items[0].request != many.items[1].request);
    CHECK(ask(R"({"model":"m","input":"a","dimensions":8})").items[0].request != one.items[0].request);
    CHECK(ask(R"({"model":"n","input":"a"})").items[0].request != one.items[0].request);
    CHECK(ask(R"({"model":"m","input":[97]})").items[0].request != one.items[0].request);
    CHECK(ask(R"({"model":"m","input":[[97]]})").items[0].request ==
          ask(R"({"model":"m","input":[97]})").items[0].request);
    CHECK(ask(R"({"model":"m","input":[]})").items.empty());
}

TEST_CASE("a thing that comes twice is asked for once") {
    const std::string body = R"({"model":"m","input":["b","a","b","c","a"]})";
    const item_batch b = batch(body);
    CHECK(b.items.size() == 3);
    CHECK(b.places == std::vector<std::uint32_t>{0, 1, 0, 2, 1});
    CHECK(b.repeats());
    const std::vector<std::uint32_t> some = {0, 2};
    CHECK(b.body_for(body, some) == R"({"model":"m","input":["b","c"]})");
    CHECK(b.body_for("not the body", some).empty());
    CHECK_FALSE(batch(R"({"model":"m","input":["b","a"]})").repeats());
}

TEST_CASE("a stored answer goes to each place of its thing, under the place's index") {
    const item_batch b = batch(R"({"model":"m","input":["b","a","b"]})");
    const auto one = [](std::string_view v) {
        return R"({"data":[{"index":0,"embedding":)" + std::string(v) + R"(}],"usage":{"prompt_tokens":2}})";
    };
    const std::string of_b = one("[2]"), of_a = one("[1]");
    const std::vector<std::string_view> answers = {of_b, of_a};
    CHECK(b.join(answers) == R"({"data":[{"index":0,"embedding":[2]},{"index":1,"embedding":[1]},)"
                             R"({"index":2,"embedding":[2]}],"usage":{"prompt_tokens":6}})");
}

TEST_CASE("a flight of a batch may hold an entry for each place, within what a watcher takes") {
    const item_batch b = batch(R"({"model":"m","input":["b","a","b"]})");
    CHECK(limits_of(1000, nullptr).entry == 1000);
    CHECK(limits_of(1000, &b).entry == 3000);
    CHECK(limits_of(std::uint64_t{32} << 20, &b).entry == std::uint64_t{64} << 20);
    CHECK(limits_of(std::uint64_t{100} << 20, &b).entry == std::uint64_t{100} << 20);
}
