// A published suite of desynchronisation requests (http-desync-guardian's test cases), sent to a live server. The files
// lie in the folder that IDEM_TEST_DATA names, else beside the repository; without them the cases report that they were
// skipped. Where a case has no Host, which none needs for its point, one is added. Bodies are sent as the framing asks.
#include <doctest/doctest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/component/gateway/http/harness.hpp"

using namespace idem;
using namespace idem::tests;
namespace fs = std::filesystem;

namespace {

struct desync_case {
    std::string name, method, target, head, body;
};

/// The body that a reader who believes in the framing expects.
std::string body_for(const YAML::Node& fields) {
    for (const YAML::Node& f : fields) {
        const auto value = f["value"].as<std::string>("");
        if (value.find("chunked") != std::string::npos) return "0\r\n\r\n";
        if (f["name"].as<std::string>("") == "Content-Length") {
            const unsigned long long n = std::strtoull(value.c_str(), nullptr, 10);
            return std::string(n <= 100000 ? n : 0, 'x');
        }
    }
    return {};
}

std::vector<desync_case> cases(const char* file) {
    const char* const folder = std::getenv("IDEM_TEST_DATA");
    const fs::path root = folder ? fs::path(folder) : fs::path(IDEM_SOURCE_DIR) / ".." / "shared" / "data";
    const fs::path at = root / "http-desync" / "tests" / file;
    std::vector<desync_case> out;
    if (!fs::exists(at)) {
        MESSAGE("SKIPPED: no ", at.string());
        return out;
    }
    for (const YAML::Node& node : YAML::LoadFile(at.string())) {
        desync_case c{node["name"].as<std::string>(),
                      node["method"].as<std::string>(),
                      node["uri"].as<std::string>(""),
                      {},
                      body_for(node["headers"])};
        const auto version = node["version"].as<std::string>("");
        c.head = c.method + " " + c.target + (version.empty() ? "" : " " + version) + "\r\n";
        bool host = false;
        for (const YAML::Node& f : node["headers"]) {
            const auto name = f["name"].as<std::string>("");
            host = host || upstream::http::iequals(name, "Host");
            c.head += name + ": " + f["value"].as<std::string>("") + "\r\n";
        }
        if (!host) c.head += "Host: localhost\r\n";
        c.head += "\r\n";
        out.push_back(std::move(c));
    }
    return out;
}

struct treated {
    answer a;
    bool closed = false;  // after the answer, by the server
    std::vector<seen_request> requests;
    std::string detail;
};

/// One case on a server of its own, so that what the handler saw belongs to it.
treated treat(const desync_case& c) {
    running_server s;
    raw_client client(s.port());
    treated out;
    REQUIRE(client.send(c.head));
    client.send(c.body);  // may fail: the server may have closed already
    out.a = client.read_answer(c.method == "HEAD");
    client.shutdown_send();
    std::string rest;
    client.read_to_end(rest);
    out.closed = out.a.fields.contains("connection") && out.a.fields.at("connection") == "close" && rest.empty();
    out.requests = s.handler().requests();
    if (const auto refusals = s.handler().refusals(); !refusals.empty()) out.detail = refusals[0].detail;
    return out;
}

void check_normalised(const desync_case& c, const treated& t) {
    REQUIRE(t.requests.size() == 1);
    const seen_request& r = t.requests[0];
    CHECK(r.method == c.method);
    CHECK(r.target == c.target);
    int framing_fields = 0;
    for (const auto& [name, value] : r.fields) {
        CHECK(name.find_first_of(" \t\r\n:_") == std::string::npos);
        CHECK(value.find_first_of("\r\n") == std::string::npos);
        framing_fields +=
            upstream::http::iequals(name, "Content-Length") || upstream::http::iequals(name, "Transfer-Encoding");
    }
    CHECK(framing_fields <= 1);
}

}  // namespace

TEST_CASE("severe: 400 or 501, closed, and the handler never hears of it") {
    for (const desync_case& c : cases("severe.yaml")) {
        CAPTURE(c.name);
        const treated t = treat(c);
        CHECK((t.a.status == 400 || t.a.status == 501));
        CHECK(t.closed);
        CHECK(t.requests.empty());
    }
}

TEST_CASE("ambiguous and acceptable: refused, or delivered in one meaning") {
    for (const char* file : {"ambiguous.yaml", "acceptable.yaml"}) {
        for (const desync_case& c : cases(file)) {
            CAPTURE(c.name);
            const treated t = treat(c);
            if (t.a.status == 200) {
                check_normalised(c, t);
            } else {
                CHECK(t.a.status >= 400);
                CHECK(t.closed);
                CHECK(t.requests.empty());
            }
        }
    }
}

TEST_CASE("compliant: accepted, except those listed with the reason") {
    const std::vector<desync_case> all = cases("rfc-compliant.yaml");
    if (all.empty()) return;
    std::string refused;
    for (const desync_case& c : all) {
        CAPTURE(c.name);
        const treated t = treat(c);
        if (t.a.status == 200) {
            CHECK(t.requests.size() == 1);
        } else {
            CHECK(t.closed);
            CHECK(t.requests.empty());
            refused += std::to_string(t.a.status) + " " + c.name + ": " + t.detail + "\n";
        }
    }
    std::ifstream in(fs::path(IDEM_SOURCE_DIR) / "tests" / "golden" / "http_desync_refused.txt");
    std::ostringstream golden;
    golden << in.rdbuf();
    CHECK(refused == golden.str());
}
