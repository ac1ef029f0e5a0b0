#include "gateway/eval/ladder.hpp"

#include "gateway/eval/reading.hpp"
#include "upstream/determinism/compare/task.hpp"

namespace idem::gateway::eval {

namespace determinism = upstream::determinism;

determinism::rung shared_rung(const prompt& p, const std::string& a, const std::string& b, const meaning_judge& means) {
    const determinism::rung by_text = a == b ? determinism::rung::normalised : determinism::common_rung("a", "b", a, b);
    if (by_text != determinism::rung::none) return by_text;
    const std::string x = words_of(a), y = words_of(b);
    if (!p.check.empty() && determinism::same_task(p.check, x, y)) return determinism::rung::task;
    return means && means(x, y) ? determinism::rung::semantic : determinism::rung::none;
}

}  // namespace idem::gateway::eval
