#include "gateway/admin/purge_request.hpp"

#include <doctest/doctest.h>

using namespace idem::gateway::admin;
using idem::cache::ban_kind;

namespace {

// 2026-11-30T12:00:00Z
constexpr std::int64_t now = 1796040000000;

std::string value(std::string_view body) {
    const purge_request r = read_purge(body, now);
    CHECK_MESSAGE(r.error.empty(), r.error);
    return std::string(to_string(r.kind)) + "=" + r.value + (r.dry_run ? " dry" : "");
}

std::string error(std::string_view body) {
    return read_purge(body, now).error;
}

}  // namespace

TEST_CASE("one thing is named, and perhaps a dry run") {
    CHECK(value(R"({"tag":"nightly build"})") == "tag=nightly build");
    CHECK(value(R"({"dry_run":true,"model":"m"})") == "model=m dry");
    CHECK(value(R"({"all":true,"dry_run":false})") == "all=");
    CHECK(value("{\"key\":\"" + std::string(64, 'a') + "\"}") == "key=" + std::string(64, 'a'));
    for (const auto* kind : {"route", "upstream", "scope"})
        CHECK(value("{\"" + std::string(kind) + "\":\"x\"}") == std::string(kind) + "=x");
}

TEST_CASE("before is a time or an age") {
    CHECK(value(R"({"before":"2026-11-30T12:00:00Z"})") == "before=1796040000000");
    CHECK(value(R"({"before":"2026-11-30T11:59:59.5Z"})") == "before=1796039999500");
    CHECK(value(R"({"before":"2024-02-29T00:00:00.125Z"})") == "before=1709164800125");
    CHECK(value(R"({"before":"1h"})") == "before=" + std::to_string(now - 3600'000));
    for (const auto* bad : {"2026-11-30T12:00:01Z", "2026-02-30T00:00:00Z", "2026-11-30", "2026-11-30T12:00:00",
                            "2026-11-30T24:00:00Z", "2026-11-30T12:00:00.1234Z", "2026-11-30T12:00:00.Z", "soon", "-1h",
                            " 2026-1-30T12:00:00Z", "2026-11-30T1 :00:00Z"})
        CHECK_MESSAGE(
            error("{\"before\":\"" + std::string(bad) + "\"}").find("\"before\" must be") != std::string::npos, bad);
}

TEST_CASE("what is wrong is named") {
    CHECK(error("").find("not JSON") != std::string::npos);
    CHECK(error("[]").find("not an object") != std::string::npos);
    CHECK(error("{}").find("names nothing") != std::string::npos);
    CHECK(error(R"({"tag":"a","model":"b"})").find("several") != std::string::npos);
    CHECK(error(R"({"tag":1})").find("\"tag\" must be a text") != std::string::npos);
    CHECK(error(R"({"tag":""})").find("\"tag\" must be a text") != std::string::npos);
    CHECK(error("{\"tag\":\"" + std::string(513, 'x') + "\"}").find("512") != std::string::npos);
    CHECK(error(R"({"all":1})").find("\"all\" must be true") != std::string::npos);
    CHECK(error(R"({"all":false})").find("\"all\" must be true") != std::string::npos);
    CHECK(error(R"({"key":"ab"})").find("64 hexadecimal") != std::string::npos);
    CHECK(error(R"({"colour":"red"})").find("\"colour\"") != std::string::npos);
    CHECK(error(R"({"tag":"a","dry_run":"yes"})").find("dry_run") != std::string::npos);
}
