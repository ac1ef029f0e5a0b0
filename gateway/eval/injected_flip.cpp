#include <algorithm>

#include "gateway/eval/plan.hpp"
#include "gateway/eval/score.hpp"

namespace idem::gateway::eval {

bool would_see_a_flip(const recording& all) {
    // In the last counted run of each cell whose outputs must agree.
    const std::set<unsigned> sound = sound_blocks(all);
    std::map<std::string, std::string> path_of;
    for (const prompt& p : all.about.prompts) path_of[p.id] = p.path;
    for (const std::string& c : all.about.cells) {
        const auto known = cell_from(c);
        if (!known || !must_agree(*known)) continue;
        const auto at = std::find_if(all.runs.rbegin(), all.runs.rend(), [&](const run_record& r) {
            return r.cell == c && r.form == "json" && sound.contains(r.block) && read_run(r, path_of[r.prompt]);
        });
        if (at == all.runs.rend()) continue;
        recording one;
        one.about = all.about;
        one.about.cells = {c};
        for (const run_record& r : all.runs)
            if (r.cell == c && r.prompt == at->prompt && r.variant == at->variant && sound.contains(r.block))
                one.runs.push_back(r);
        one.blocks = all.blocks;
        if (one.runs.size() < 2) continue;
        // One letter of the answer becomes another, within a text that counts.
        const auto before = read_run(*at, path_of[at->prompt]);
        run_record& last = *std::find_if(one.runs.begin(), one.runs.end(),
                                         [&](const run_record& r) { return r.run == at->run && r.block == at->block; });
        bool changed = false;
        for (std::size_t i = 0; i < last.body.size() && !changed; ++i) {
            const char was = last.body[i];
            if (was < 'a' || was > 'y') continue;
            last.body[i] = static_cast<char>(was + 1);
            const auto after = read_run(last, path_of[at->prompt]);
            changed = after && after->normal != before->normal;
            if (!changed) last.body[i] = was;
        }
        if (!changed) continue;
        const summary s = summarise(one, 1);
        if (s.cells.empty() || s.cells.front().flips == 0) return false;
        return true;
    }
    return false;
}

}  // namespace idem::gateway::eval
