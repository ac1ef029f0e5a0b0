// Reads questions from standard input, a line each, and prints what Idem's measuring core answers: for comparison with
// other implementations of the same measures. Lists of tokens are numbers with commas, texts are hexadecimal.
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "upstream/determinism/compare/bleu.hpp"
#include "upstream/determinism/compare/divergence.hpp"
#include "upstream/determinism/compare/edit_distance.hpp"
#include "upstream/determinism/compare/statistics.hpp"

namespace {

using namespace idem::upstream::determinism;

std::vector<std::uint64_t> numbers(const std::string& text) {
    std::vector<std::uint64_t> out;
    std::stringstream in(text == "-" ? "" : text);
    for (std::string n; std::getline(in, n, ',');) out.push_back(std::stoull(n));
    return out;
}

token_list tokens(const std::string& text) {
    token_list out;
    for (const std::uint64_t n : numbers(text)) out.push_back(static_cast<token>(n));
    return out;
}

std::string text_of(const std::string& hex) {
    std::string out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        out += static_cast<char>(std::stoul(hex.substr(i, 2), nullptr, 16));
    return out;
}

void lists(std::istream& in) {
    std::string x, y;
    in >> x >> y;
    const token_list a = tokens(x), b = tokens(y);
    std::printf("%zu %.17g %.17g %.17g %.17g\n", edit_distance(a, b), edit_similarity(a, b),
                sentence_bleu(ngrams(a), ngrams(b)), sentence_bleu(ngrams(b), ngrams(a)), symmetric_bleu(a, b));
}

void texts(std::istream& in) {
    std::string x, y;
    in >> x >> y;
    const std::string a = text_of(x), b = text_of(y);
    std::string joined;
    for (const std::string_view piece : pieces_of(a)) joined += piece;
    const auto p = part_of(a, b);
    std::printf("%zu %zu %d %lld\n", edit_distance(characters_of(a), characters_of(b)), characters_of(a).size(),
                joined == a ? 1 : 0, p ? static_cast<long long>(p->character) : -1);
}

void binomial(std::istream& in) {
    std::uint64_t flips = 0, runs = 0;
    double confidence = 0;
    in >> flips >> runs >> confidence;
    const interval exact = clopper_pearson(flips, runs, confidence), plot = wilson(flips, runs, confidence);
    std::printf("%.17g %.17g %.17g %.17g %.17g\n", upper_bound(flips, runs, confidence), exact.low, exact.high,
                plot.low, plot.high);
}

void fisher(std::istream& in) {
    std::uint64_t n[4] = {};
    for (std::uint64_t& each : n) in >> each;
    std::printf("%.17g\n", fisher_exact(n[0], n[1], n[2], n[3]));
}

void counts(std::istream& in) {
    std::string x;
    in >> x;
    const spread s = spread_of(numbers(x));
    std::printf("%llu %.17g %.17g %.17g %.17g\n", static_cast<unsigned long long>(s.unique), s.modal_share, s.flip_rate,
                s.agreement, s.entropy);
}

void need(std::istream& in) {
    double bound = 0, confidence = 0;
    in >> bound >> confidence;
    std::printf("%llu\n", static_cast<unsigned long long>(required_runs(bound, confidence)));
}

}  // namespace

int main() {
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) {
        std::stringstream in(line);
        std::string what;
        in >> what;
        if (what == "lists")
            lists(in);
        else if (what == "texts")
            texts(in);
        else if (what == "binomial")
            binomial(in);
        else if (what == "fisher")
            fisher(in);
        else if (what == "counts")
            counts(in);
        else if (what == "need")
            need(in);
        else
            return 2;
    }
    return 0;
}
