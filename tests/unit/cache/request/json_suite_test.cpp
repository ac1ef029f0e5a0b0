// The public suites: nst/JSONTestSuite, and the samples of RFC 8785. They lie in the folder that IDEM_TEST_DATA names,
// else beside the repository; without them the cases report that they were skipped.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "cache/request/canonical.hpp"

using namespace idem;
namespace fs = std::filesystem;

namespace {

fs::path data(const char* suite) {
    const char* const folder = std::getenv("IDEM_TEST_DATA");
    const fs::path at = (folder ? fs::path(folder) : fs::path(IDEM_SOURCE_DIR) / ".." / "shared" / "data") / suite;
    if (!fs::exists(at)) MESSAGE("SKIPPED: no ", at.string());
    return at;
}

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

// Name to text of the files that begin with `prefix`, sorted by name.
std::map<std::string, std::string> documents(const char* prefix) {
    std::map<std::string, std::string> found;
    const fs::path folder = data("json-test-suite") / "test_parsing";
    if (!fs::exists(folder)) return found;
    for (const auto& file : fs::directory_iterator(folder)) {
        const std::string name = file.path().filename().string();
        if (name.starts_with(prefix)) found[name] = content(file.path());
    }
    return found;
}

std::string outcome_of(const std::string& json) {
    static cache::canonicalizer c;
    const cache::canonical_form form = c.canonicalize(json, {});
    return form.why == reason::none ? std::string(form.text) : std::string(to_string(form.why));
}

std::string wrapped(const std::string& json) {
    return "{\"x\": " + json + "}";
}

}  // namespace

TEST_CASE("every text that must be accepted is, unless it repeats a key") {
    for (const auto& [name, json] : documents("y_")) {
        const bool repeats = name == "y_object_duplicated_key.json" || name == "y_object_duplicated_key_and_value.json";
        const bool object = json[json.find_first_not_of(" \t\r\n")] == '{';
        const std::string direct = outcome_of(json);
        const std::string inside = outcome_of(wrapped(json));
        CAPTURE(name);
        CHECK((inside == "body_duplicate_key") == repeats);
        if (name == "y_structure_lonely_null.json") {
            CHECK(inside == "{}");  // a top-level null equals absent
        } else if (!repeats) {
            CHECK(inside.starts_with("{\"x\":"));
        }
        if (!object) CHECK(direct == "body_not_json");
        if (object && !repeats) CHECK(direct.starts_with("{"));
    }
}

TEST_CASE("every text that must be refused is, with a reason") {
    for (const auto& [name, json] : documents("n_")) {
        CAPTURE(name);
        CHECK(outcome_of(json).starts_with("body_"));
        CHECK(outcome_of(wrapped(json)).starts_with("body_"));
    }
}

TEST_CASE("what is done with texts that may be treated either way is frozen") {
    const auto found = documents("i_");
    if (found.empty()) return;
    std::string lines;
    for (const auto& [name, json] : found) {
        const std::string inside = outcome_of(wrapped(json));
        lines += name + " " + outcome_of(json) + " " + (inside.size() > 200 ? "accepted" : inside) + "\n";
    }
    CHECK(lines == content(fs::path(IDEM_SOURCE_DIR) / "tests/golden/json_i_cases.txt"));
}

TEST_CASE("the samples of RFC 8785 come out as published, but for the listed differences") {
    const fs::path folder = data("jcs") / "testdata";
    if (!fs::exists(folder)) return;
    int seen = 0;
    for (const auto& file : fs::directory_iterator(folder / "input")) {
        const std::string name = file.path().filename().string();
        std::string wanted = content(folder / "output" / name);
        while (wanted.ends_with('\n')) wanted.pop_back();
        std::string json = content(file.path());
        if (name == "arrays.json") {  // the top level must be an object
            CHECK(outcome_of(json) == "body_not_json");
            json = wrapped(json);
            wanted = "{\"x\":" + wanted + "}";
        }
        if (name == "weird.json") {  // code points against UTF-16 code units: U+FB33 and U+1F602 change places
            const std::string smiley = "\"\xf0\x9f\x98\x82\":\"Smiley\"";
            const std::string dalet = "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"";
            const std::size_t at = wanted.find(smiley + "," + dalet);
            REQUIRE(at != std::string::npos);
            wanted.replace(at, smiley.size() + 1 + dalet.size(), dalet + "," + smiley);
        }
        CAPTURE(name);
        CHECK(outcome_of(json) == wanted);
        ++seen;
    }
    CHECK(seen == 6);
}
