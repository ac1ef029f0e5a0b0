// The two encodings of an embedding: either is made of the other, or neither.
#include "upstream/dialect/openai_encoding.hpp"

#include <doctest/doctest.h>

#include <rapidcheck.h>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "upstream/base/base64.hpp"
#include "upstream/dialect/json_text.hpp"
#include "upstream/dialect/registry.hpp"

using namespace idem;
using namespace idem::upstream::dialect;
using namespace idem::upstream::dialect::openai;

namespace {

std::string answer_of(std::string_view vector) {
    return std::string(R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":)")
        .append(vector)
        .append(R"(}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}})");
}

std::optional<std::string> to_base64(std::string_view numbers) {
    const auto made = vectors_as_base64(answer_of(numbers));
    if (!made) return std::nullopt;
    json_items items(find_member(*made, "data"));
    REQUIRE(items.next());
    return string_text(find_member(items.value(), "embedding"));
}

std::string base64_of_singles(const std::vector<float>& values) {
    std::string bytes;
    for (const float v : values) {
        const auto bits = std::bit_cast<std::uint32_t>(v);
        for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 255U);
    }
    return base64_of(bytes);
}

std::string text_of(double value, bool exact) {
    char text[64];
    const auto end = exact ? std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr
                           : std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr;
    return {text, end};
}

}  // namespace

TEST_CASE("what a request says of its vectors' form") {
    const auto of = [](std::string_view more) {
        return vector_form(R"({"model":"m","input":"a")" + std::string(more) + "}");
    };
    CHECK(of("") == form::json);
    CHECK(of(R"(,"encoding_format":null)") == form::json);
    CHECK(of(R"(,"encoding_format":"float")") == form::json);
    CHECK(of(R"(,"encoding_format":"base64")") == form::json_base64);
    CHECK(of(R"(,"encoding\u005fformat":"b\u0061se64")") == form::json_base64);
    for (std::string_view more :
         {R"("int8")", R"("ubinary")", R"("bytes")", "1", "true", "[\"base64\"]", "{}", R"("Float")", R"("")"})
        CHECK_FALSE(of(R"(,"encoding_format":)" + std::string(more)));
    // base64 of something else than singles
    for (std::string_view member : {"output_dtype", "embed_dtype", "endianness", "embedding_type", "embedding_types"}) {
        CHECK_FALSE(of(R"(,"encoding_format":"base64",")" + std::string(member) + R"(":"int8")"));
        CHECK(of(R"(,"encoding_format":"base64",")" + std::string(member) + R"(":null)") == form::json_base64);
        CHECK(of(R"(,")" + std::string(member) + R"(":"int8")") == form::json);
    }
    CHECK(openai_embeddings().read(R"({"model":"m","input":"a","encoding_format":"base64"})").wanted ==
          form::json_base64);
    CHECK(openai_embeddings().read(R"({"model":"m","input":"a","encoding_format":"int8"})").wanted == form::json);
}

TEST_CASE("a form that is nothing else leaves the canonical body, wherever it stands") {
    CHECK(without_vector_form(R"({"encoding_format":"base64","input":"a"})") == R"({"input":"a"})");
    CHECK(without_vector_form(R"({"a":1,"encoding_format":"float","input":"a"})") == R"({"a":1,"input":"a"})");
    CHECK(without_vector_form(R"({"a":1,"encoding_format":"float"})") == R"({"a":1})");
    CHECK(without_vector_form(R"({"encoding_format":"float"})") == "{}");
    CHECK_FALSE(without_vector_form(R"({"input":"a"})"));
    CHECK_FALSE(without_vector_form(R"({"encoding_format":"int8","input":"a"})"));
    CHECK_FALSE(without_vector_form(R"({"encoding_format":"base64","input":"a","output_dtype":"int8"})"));
    CHECK_FALSE(without_vector_form(R"({"input":{"encoding_format":"base64"}})"));
}

TEST_CASE("base64 becomes the shortest decimals of each single, and back") {
    CHECK(vectors_as_numbers(answer_of(R"("AACAPwAAAL/NzMw9")")) == answer_of("[1,-0.5,0.1]"));
    CHECK(to_base64("[1,-0.5,0.1]") == "AACAPwAAAL/NzMw9");
    CHECK(to_base64(" [ 1.0 , -5e-1,\n 0.10000000149011612 ] ") == "AACAPwAAAL/NzMw9");
    // PHP and others escape the slash
    CHECK(vectors_as_numbers(answer_of(R"("AACAPwAAAL\/NzMw9")")) == answer_of("[1,-0.5,0.1]"));
    const std::string zero = base64_of_singles({-0.0F});
    CHECK(vectors_as_numbers(answer_of('"' + zero + '"')) == answer_of("[-0.0]"));
    CHECK(to_base64("[-0.0]") == zero);
    CHECK(to_base64("[-0]") == zero);
}

TEST_CASE("all but the vectors stays as it is, byte for byte") {
    const std::string before =
        "{ \"data\" :\n[ {\"index\":1, \"embedding\" : \"AACAPw==\",\"x\":1.50}, "
        "{\"embedding\":[2],\"index\":0} ],\"usage\":{}, \"data2\":[\"AACAPw==\"] }\n";
    std::string after = before;
    after.replace(after.find("\"AACAPw==\""), 10, "[1]");
    CHECK(vectors_as_numbers(before) == after);
    CHECK(vectors_as_numbers(after) == after);
    CHECK(vectors_as_base64(after)->find(R"("embedding":"AAAAQA==","index":0)") != std::string::npos);
}

TEST_CASE("a number that is no single in any of its two spellings is not rounded") {
    CHECK(to_base64("[0.1]"));                  // the shortest text of a single
    CHECK(to_base64("[0.10000000149011612]"));  // the shortest text of its double
    CHECK_FALSE(to_base64("[0.1000000014]"));   // between the two
    CHECK_FALSE(to_base64("[0.12345678901234]"));
    CHECK_FALSE(to_base64("[16777217]"));
    CHECK_FALSE(to_base64("[1e39]"));
    CHECK_FALSE(to_base64("[1e-50]"));
    CHECK_FALSE(to_base64("[1,0.12345678901234]"));
}

TEST_CASE("no vector of numbers, no other encoding") {
    for (std::string_view vector :
         {R"("AAAA")", R"("AACAPw=")", R"("not base64")", R"("")", R"("AADAfw==")", R"("AACAfw==")", "null", "1", "{}"})
        CHECK_FALSE(vectors_as_numbers(answer_of(vector)));
    for (std::string_view vector : {"[]", "[[1,2]]", "[1,null]", "[\"1\"]", "[1,[2]]", "{}", "null", "1"})
        CHECK_FALSE(vectors_as_base64(answer_of(vector)));
    for (std::string_view body : {"", "{", "{}", "[]", R"({"data":{}})", R"({"data":[]})", R"({"data":[{"index":0}]})",
                                  R"({"data":[1]})", R"({"data":[{"embedding":[1],"embedding":[2]}]})",
                                  R"({"data":[{"embedding":[1]}],"data":[]})", R"({"data":[{"embedding":[1]}]}x)"}) {
        CHECK_FALSE(vectors_as_numbers(body));
        CHECK_FALSE(vectors_as_base64(body));
    }
}

TEST_CASE("property: any finite singles survive both ways, however a server writes them") {
    CHECK(rc::check([] {
        const auto bits = *rc::gen::nonEmpty<std::vector<std::uint32_t>>();
        std::vector<float> values;
        std::string exact = "[", shortest = "[";
        for (const std::uint32_t b : bits) {
            const auto v = std::bit_cast<float>(b);
            if (!std::isfinite(v)) continue;
            if (!values.empty()) exact += ',', shortest += ',';
            values.push_back(v);
            exact += text_of(v, true);
            shortest += text_of(v, false);
        }
        RC_PRE(!values.empty());
        const std::string encoded = base64_of_singles(values);
        RC_ASSERT(to_base64(exact + "]") == encoded);
        RC_ASSERT(to_base64(shortest + "]") == encoded);
        const auto numbers = vectors_as_numbers(answer_of('"' + encoded + '"'));
        RC_ASSERT(numbers.has_value());
        RC_ASSERT(vectors_as_base64(*numbers) == answer_of('"' + encoded + '"'));
        const auto same = [](form f, std::string_view body) { return openai_embeddings().normalised(f, body); };
        RC_ASSERT(same(form::json, *numbers) == same(form::json_base64, answer_of('"' + encoded + '"')));
    }));
}
