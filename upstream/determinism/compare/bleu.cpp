#include "upstream/determinism/compare/bleu.hpp"

#include <algorithm>
#include <cmath>

namespace idem::upstream::determinism {

ngrams::ngrams(std::span<const token> of) : tokens_(of.size()) {
    for (std::size_t n = 1; n <= longest && n <= of.size(); ++n) {
        std::vector<gram> all;
        all.reserve(of.size() - n + 1);
        for (std::size_t i = 0; i + n <= of.size(); ++i) {
            gram g{};
            std::ranges::copy(of.subspan(i, n), g.begin());
            all.push_back(g);
        }
        std::ranges::sort(all);
        for (const gram& g : all) {
            if (!sorted_[n - 1].empty() && sorted_[n - 1].back().is == g)
                ++sorted_[n - 1].back().times;
            else
                sorted_[n - 1].push_back({g, 1});
        }
    }
}

namespace {

std::uint64_t matches(std::span<const ngrams::counted> a, std::span<const ngrams::counted> b) {
    std::uint64_t found = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i].is == b[j].is)
            found += std::min(a[i++].times, b[j++].times);
        else if (a[i].is < b[j].is)
            ++i;
        else
            ++j;
    }
    return found;
}

}  // namespace

double sentence_bleu(const ngrams& hypothesis, const ngrams& reference) {
    const std::size_t said = hypothesis.tokens(), wanted = reference.tokens();
    double logs = 0, smooth = 1;
    bool any = false;
    std::size_t order = 0;
    for (std::size_t n = 1; n <= ngrams::longest && n <= said; ++n) {
        const std::uint64_t correct = matches(hypothesis.of(n), reference.of(n));
        const auto total = static_cast<double>(said - n + 1);
        any = any || correct > 0;
        if (correct == 0) smooth *= 2;
        logs += std::log(correct == 0 ? 1 / (smooth * total) : static_cast<double>(correct) / total);
        order = n;
    }
    if (!any) return 0;
    const double brevity = said < wanted ? std::exp(1 - static_cast<double>(wanted) / static_cast<double>(said)) : 1.0;
    return std::clamp(brevity * std::exp(logs / static_cast<double>(order)), 0.0, 1.0);
}

double symmetric_bleu(const ngrams& a, const ngrams& b) {
    return (sentence_bleu(a, b) + sentence_bleu(b, a)) / 2;
}

double symmetric_bleu(std::span<const token> a, std::span<const token> b) {
    if (std::ranges::equal(a, b)) return 1;
    if (a.empty() || b.empty()) return 0;
    return symmetric_bleu(ngrams(a), ngrams(b));
}

}  // namespace idem::upstream::determinism
