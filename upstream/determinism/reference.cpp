#include "upstream/determinism/reference.hpp"

#include <algorithm>

namespace idem::upstream::determinism {

bool attestation_run::take(std::size_t index, const golden_output& got) {
    if (made_.what != attestation::result::steady) return false;
    if (seen_.size() <= index) seen_.resize(index + 1);
    std::optional<golden_output>& before = seen_[index];
    if (!before) {
        before = got;
    } else if (before->prompt_tokens != got.prompt_tokens) {
        made_.what = attestation::result::drifted;
        made_.detail = "golden prompt " + names_[index] + " had " + std::to_string(before->prompt_tokens) +
                       " and then " + std::to_string(got.prompt_tokens) + " tokens";
    } else if (before->output != got.output) {
        made_.what = attestation::result::flipped;
        made_.detail = "golden prompt " + names_[index] + " gave two outputs";
    }
    return made_.what == attestation::result::steady;
}

void attestation_run::fail(std::size_t index, std::string_view why) {
    if (made_.what != attestation::result::steady) return;
    made_.what = attestation::result::failed;
    made_.detail = "golden prompt " + names_[index] + ": " + std::string(why);
}

attestation attestation_run::finish(std::uint32_t runs) && {
    made_.runs = runs;
    if (made_.what == attestation::result::steady) {
        for (const auto& s : seen_) made_.outputs.push_back(s.value_or(golden_output{}));
    }
    return std::move(made_);
}

digest prompts_digest(std::span<const golden_prompt> prompts, std::string_view model) {
    hasher h;
    h.part('v', "idem-golden-1");
    h.part('m', model);
    for (const golden_prompt& p : prompts) {
        h.part('n', p.name);
        h.part('p', p.path);
        h.part('b', p.body);
    }
    return h.finish();
}

comparison compare(const attestation& of, const reference& with, std::span<const golden_prompt> prompts,
                   std::string& detail) {
    if (!of.fingerprint.empty() && !with.fingerprint.empty() && of.fingerprint != with.fingerprint) {
        detail = "its answers carry the fingerprint \"" + of.fingerprint + "\", those of the epoch \"" +
                 with.fingerprint + "\"";
        return comparison::moved;
    }
    if (of.outputs.size() != with.outputs.size() || of.outputs.size() != prompts.size()) {
        detail = "the reference is of another number of prompts";
        return comparison::differs;
    }
    for (std::size_t i = 0; i < of.outputs.size(); ++i) {
        const golden_output &is = of.outputs[i], &was = with.outputs[i];
        if (is.prompt_tokens != was.prompt_tokens) {
            detail = "golden prompt " + prompts[i].name + " has " + std::to_string(is.prompt_tokens) +
                     " tokens, the reference " + std::to_string(was.prompt_tokens);
            return comparison::drifted;
        }
        if (is.output != was.output) {
            detail = "golden prompt " + prompts[i].name + " does not give the reference's output";
            return comparison::differs;
        }
    }
    return comparison::matches;
}

const attestation* majority(std::span<const attestation* const> given, std::size_t replicas) {
    for (const attestation* candidate : given) {
        const auto alike = std::ranges::count_if(
            given, [&](const attestation* other) { return other->outputs == candidate->outputs; });
        if (static_cast<std::size_t>(alike) * 2 > replicas) return candidate;
    }
    return nullptr;
}

}  // namespace idem::upstream::determinism
