#include "upstream/determinism/observation.hpp"

namespace idem::upstream::determinism {

std::string_view to_string(contrast c) noexcept {
    switch (c) {
        case contrast::divergence:
            return "divergence";
        case contrast::drift:
            return "drift";
        case contrast::variation:
            return "variation";
        case contrast::same:
            break;
    }
    return "same";
}

contrast contrast_of(const observation& a, const observation& b) noexcept {
    if (a.output == b.output) return contrast::same;
    static const digest unwatched = unwatched_environment();
    const auto unrepeatable = [](const observation& o) { return o.sampled || o.environment == unwatched; };
    if (unrepeatable(a) || unrepeatable(b)) return contrast::variation;
    if (a.environment != b.environment) return contrast::drift;
    return a.promise != level::none && b.promise != level::none ? contrast::divergence : contrast::variation;
}

}  // namespace idem::upstream::determinism
