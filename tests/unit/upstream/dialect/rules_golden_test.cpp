// The lists of every dialect that enter the digest: a change of one is a change of keys.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "upstream/dialect/dialect.hpp"
#include "upstream/dialect/json_text.hpp"

using namespace idem::upstream::dialect;

namespace {

void append_list(std::string& out, std::string_view name, std::span<const std::string_view> words) {
    out.append(",\n  \"").append(name).append("\": [");
    for (std::size_t i = 0; i < words.size(); ++i) {
        out += i ? ", " : "";
        append_json_string(out, words[i]);
    }
    out += "]";
}

}  // namespace

TEST_CASE("golden: paths, ignored members, order-kept places, prompt text and headers of every dialect") {
    std::string said = "[";
    for (const dialect* d : all()) {
        said += said.size() > 1 ? ",\n {\"name\": " : "\n {\"name\": ";
        append_json_string(said, d->name());
        said += ",\n  \"path\": ";
        append_json_string(said, d->digest_path(d->normal_path()));
        append_list(said, "ignored", d->rules().ignored);
        append_list(said, "order_kept", d->rules().order_kept);
        append_list(said, "prompt_text", d->rules().prompt_text);
        append_list(said, "headers", d->digest_headers());
        said += "}";
    }
    said += "\n]\n";
    const std::string file = IDEM_SOURCE_DIR "/tests/golden/dialects.json";
    if (std::getenv("IDEM_WRITE_GOLDEN") != nullptr) std::ofstream(file) << said;
    std::ostringstream expected;
    expected << std::ifstream(file).rdbuf();
    CHECK(said == expected.str());
}
