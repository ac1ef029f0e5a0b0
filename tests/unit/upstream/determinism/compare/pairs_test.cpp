#include "upstream/determinism/compare/pairs.hpp"

#include <doctest/doctest.h>

#include "upstream/determinism/compare/bleu.hpp"
#include "upstream/determinism/compare/edit_distance.hpp"
#include "upstream/determinism/compare/statistics.hpp"

using namespace idem::upstream::determinism;

namespace {

std::vector<output_group> some(std::size_t outputs) {
    vocabulary words;
    std::vector<output_group> out;
    for (std::size_t i = 0; i < outputs; ++i) {
        output_group g;
        for (std::size_t w = 0; w < 40; ++w)
            g.text += "word" + std::to_string(w * (w % (i + 2) == 0 ? i + 1 : 1)) + " ";
        g.tokens = words.tokens_of(g.text);
        g.runs = i % 3 + 1;
        out.push_back(std::move(g));
    }
    return out;
}

}  // namespace

TEST_CASE("one output scores exactly 1") {
    const auto one = some(1);
    const pair_means m = compare_pairs(one, 10, 1, 2);
    CHECK(m.tokens == 1.0);
    CHECK(m.characters == 1.0);
    CHECK(m.bleu == 1.0);
    CHECK(m.pairs == 0);
}

TEST_CASE("all pairs give the means of the definition, whatever the threads") {
    const auto outputs = some(12);
    std::vector<std::uint64_t> counts;
    for (const auto& o : outputs) counts.push_back(o.runs);
    const auto score = [&](auto alike) { return pair_score(counts, alike); };
    for (const unsigned threads : {1U, 2U, 7U}) {
        const pair_means m = compare_pairs(outputs, 1000, 1, threads);
        CHECK(m.pairs == 66);
        CHECK(m.sampled == 66);
        CHECK(m.tokens == doctest::Approx(score(
                              [&](auto i, auto j) { return edit_similarity(outputs[i].tokens, outputs[j].tokens); })));
        CHECK(m.characters == doctest::Approx(score([&](auto i, auto j) {
                  return edit_similarity(characters_of(outputs[i].text), characters_of(outputs[j].text));
              })));
        CHECK(m.bleu == doctest::Approx(score(
                            [&](auto i, auto j) { return symmetric_bleu(outputs[i].tokens, outputs[j].tokens); })));
        CHECK(m.tokens < 1);
    }
}

TEST_CASE("a sample is the seed's") {
    const auto outputs = some(20);
    const pair_means a = compare_pairs(outputs, 30, 7, 2), b = compare_pairs(outputs, 30, 7, 1),
                     c = compare_pairs(outputs, 30, 8, 2);
    CHECK(a.sampled == 30);
    CHECK(a.pairs == 190);
    CHECK(a.bleu == b.bleu);
    CHECK(a.characters == b.characters);
    CHECK(a.bleu != c.bleu);
    CHECK(a.tokens == c.tokens);
}
