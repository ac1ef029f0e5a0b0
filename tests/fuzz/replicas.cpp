// What comes from a store or an engine about replicas: records, golden prompts, the JSON that facts are read out of.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "gateway/replicas/records.hpp"
#include "gateway/shadow/record.hpp"
#include "upstream/determinism/fact_reader.hpp"
#include "upstream/determinism/golden.hpp"
#include "upstream/engine/profile.hpp"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace idem::gateway::replicas;
    namespace determinism = idem::upstream::determinism;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // What is read is written as what is read again.
    if (const auto f = decode_finding(text)) require(encode(*decode_finding(encode(*f))) == encode(*f));
    if (const auto w = decode_wish(text)) require(encode(*decode_wish(encode(*w))) == encode(*w));
    if (const auto r = decode_reference(text)) require(decode_reference(encode(*r)) == r);
    namespace shadow = idem::gateway::shadow;
    if (const auto b = shadow::decode(text)) {
        require(shadow::decode(shadow::encode(*b)) == b);
        (void)shadow::summary(*b);
        for (const auto& d : b->divergences) (void)shadow::shown(d);
    }
    const auto golden = determinism::parse_golden(text);
    require(!golden.error.empty() || !golden.prompts.empty());
    for (const auto& p : golden.prompts) (void)determinism::with_model(p.body, text.substr(0, 20));
    (void)determinism::first_model(text);
    for (const auto* engine : idem::upstream::engine::all()) {
        determinism::environment read;
        for (const auto& probe : engine->probes.facts) determinism::read_facts(read, text, probe.facts);
        const auto known = determinism::completed(read, {}, idem::upstream::engine::numeric_facts);
        require(known.id() == determinism::completed(known, {}, idem::upstream::engine::numeric_facts).id());
    }
    return 0;
}
