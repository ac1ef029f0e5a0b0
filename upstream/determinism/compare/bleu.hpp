#pragma once
// Sentence BLEU of two token lists (Papineni et al., 2002), as sacreBLEU computes it (Post, "A Call for Clarity in
// Reporting BLEU Scores", 2018) with the signature below: n-grams up to 4, the effective order of short texts, and
// exponential smoothing of orders without a match. It ranks how bad a difference is; it gates nothing, since a score of
// 1 under a tokenisation that folds anything would not mean equal bytes. This one folds nothing. Pure; any thread.
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "upstream/determinism/compare/tokens.hpp"

namespace idem::upstream::determinism {

inline constexpr std::string_view bleu_signature = "nrefs:1|case:mixed|eff:yes|tok:none|smooth:exp|version:2.6.0";

/// The n-grams of one list, ready to be compared with many others.
class ngrams {
public:
    explicit ngrams(std::span<const token> of);
    static constexpr std::size_t longest = 4;
    using gram = std::array<token, longest>;
    struct counted {
        gram is;
        std::uint32_t times;
    };
    [[nodiscard]] std::span<const counted> of(std::size_t length) const noexcept { return sorted_[length - 1]; }
    [[nodiscard]] std::size_t tokens() const noexcept { return tokens_; }

private:
    std::array<std::vector<counted>, longest> sorted_;
    std::size_t tokens_;
};

/// Of a hypothesis against one reference, in [0, 1] as sacreBLEU gives it in percent.
[[nodiscard]] double sentence_bleu(const ngrams& hypothesis, const ngrams& reference);
/// The mean of both directions; 1 for equal lists, two empty ones among them, 0 where one is empty.
[[nodiscard]] double symmetric_bleu(std::span<const token> a, std::span<const token> b);
[[nodiscard]] double symmetric_bleu(const ngrams& a, const ngrams& b);

}  // namespace idem::upstream::determinism
