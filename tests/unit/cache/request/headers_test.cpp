#include "cache/request/headers.hpp"

#include <doctest/doctest.h>

#include <array>

#include <string>

using namespace idem::cache;
using idem::upstream::http::fields;

namespace {

fields of(std::initializer_list<std::pair<std::string_view, std::string_view>> list) {
    fields f;
    for (const auto& [name, value] : list) f.add(name, value);
    return f;
}

}  // namespace

TEST_CASE("a query is sorted by name, and equal names keep their order") {
    CHECK(normalise_query("") == "");
    CHECK(normalise_query("b=2&a=1") == "a=1&b=2");
    CHECK(normalise_query("b=2&a=2&b=1&a=1") == "a=2&a=1&b=2&b=1");
    CHECK(normalise_query("&b&&a=&") == "a=&b");
}

TEST_CASE("escapes of a query have one spelling") {
    CHECK(normalise_query("a=%7e%41%2f%3D") == "a=~A%2F%3D");
    CHECK(normalise_query("a=1%") == "a=1%");
    CHECK(normalise_query("a=%zz%4") == "a=%zz%4");
    CHECK(normalise_query("a=b+c") != normalise_query("a=b%20c"));
}

TEST_CASE("credentials leave the query, however they are spelled") {
    CHECK(normalise_query("key=secret&alt=sse") == "alt=sse");
    CHECK(normalise_query("k%65y=secret") == "");
    CHECK(normalise_query("KEY=a&Api-Key=b&access_token=c&subscription-key=d&api_key=e&apikey=f") == "");
    CHECK(normalise_query("monkey=1") == "monkey=1");
    const std::array<std::string_view, 1> form = {"alt"};
    CHECK(normalise_query("b=1&alt=sse&a=1&%61lt=json&alto=1", form) == "a=1&alto=1&b=1");
    CHECK(redact_query("alt=sse&key=secret&k%65y=x&b") == "alt=sse&key=***&k%65y=***&b");
    CHECK(without_credentials("/p?alt=sse&key=secret&k%65y=x&b") == "/p?alt=sse&b");
    CHECK(without_credentials("/p?key=s") == "/p");
    CHECK(without_credentials("/p?a=1") == "/p?a=1");
    CHECK(without_credentials("/p?") == "/p?");
    CHECK(without_credentials("/key=1") == "/key=1");
    const auto found = query_credentials("a=1&k%65y=s%2dx&api_key=");
    REQUIRE(found.size() == 2);
    CHECK(found[0] == std::pair<std::string, std::string>("key", "s-x"));
    CHECK(found[1] == std::pair<std::string, std::string>("api_key", ""));
}

TEST_CASE("digest headers are sets") {
    constexpr std::string_view names[] = {"openai-beta", "anthropic-beta", "anthropic-version"};
    const auto headers = digest_headers(of({{"Anthropic-Beta", "b , a"},
                                            {"x-other", "1"},
                                            {"anthropic-beta", "c,a,,"},
                                            {"Anthropic-Version", " 2023-06-01 "},
                                            {"openai-beta", " , "}}),
                                        names);
    REQUIRE(headers.size() == 2);
    CHECK(headers[0] == std::pair<std::string, std::string>("anthropic-beta", "a,b,c"));
    CHECK(headers[1] == std::pair<std::string, std::string>("anthropic-version", "2023-06-01"));
    CHECK(digest_headers(of({{"x-other", "1"}}), names).empty());
}

TEST_CASE("which content types are JSON") {
    for (const char* good :
         {"application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\"",
          "application/vnd.api+json", "application/json; profile=x"}) {
        CHECK_MESSAGE(json_content(of({{"Content-Type", good}})), std::string(good));
    }
    for (const char* bad :
         {"text/plain", "application/json; charset=utf-16", "application/+json", "multipart/form-data",
          "application/x-www-form-urlencoded", "", "application/jsonx", "text/json"}) {
        CHECK_MESSAGE(!json_content(of({{"content-type", bad}})), std::string(bad));
    }
    CHECK(json_content(of({})));
    CHECK_FALSE(json_content(of({{"content-type", "application/json"}, {"content-type", "application/json"}})));
}

TEST_CASE("a target is split at its first question mark") {
    CHECK(split_target("/v1/x").path == "/v1/x");
    CHECK(split_target("/v1/x").query == "");
    CHECK(split_target("/v1/x?a=1?b").path == "/v1/x");
    CHECK(split_target("/v1/x?a=1?b").query == "a=1?b");
}
