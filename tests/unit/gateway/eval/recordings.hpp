// Recordings for the tests of the cores of `idem eval`.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/eval/plan.hpp"
#include "gateway/eval/prompts.hpp"
#include "gateway/eval/score.hpp"

namespace idem::gateway::eval {

inline constexpr cell some_cells[] = {cell::solo_cold, cell::noise, cell::control};

inline std::vector<prompt> some_prompts() {
    return {{"one", "fact", "/v1/chat/completions", R"({"messages":[]})", 60},
            {"two", "near-tie", "/v1/chat/completions", R"({"messages":[]})", 30}};
}

inline std::string answer(std::string_view words, unsigned tokens = 7) {
    return R"({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":")" +
           std::string(words) + R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":)" + std::to_string(tokens) +
           R"(,"completion_tokens":1,"total_tokens":9}})";
}

// An evaluation that went well: every run says the same, but for the control.
inline recording steady() {
    recording all;
    all.about.prompts = some_prompts();
    all.about.engine = "vllm";
    all.about.cells = {"solo-cold", "noise", "control"};
    all.about.p_max = 0.2;
    unsigned number = 0;
    for (const block& b : make_plan(some_cells, all.about.prompts, 1)) {
        for (unsigned run = b.first_run; run < b.first_run + b.runs; ++run) {
            run_record r;
            r.cell = to_string(b.what);
            r.prompt = all.about.prompts[b.prompt].id;
            r.run = run;
            r.block = b.number;
            r.status = 200;
            r.body = answer(b.what == cell::control ? std::to_string(number++) : "the same words");
            all.runs.push_back(std::move(r));
        }
        all.blocks.push_back({b.number, std::string(to_string(b.what)), "e", "e", "", "", -1, 2, 5, 0});
    }
    return all;
}

inline run_record& a_run(recording& all, std::string_view in, std::string_view asked, unsigned run) {
    return *std::ranges::find_if(
        all.runs, [&](const run_record& r) { return r.cell == in && r.prompt == asked && r.run == run; });
}

inline verdict says(const recording& all) {
    return summarise(all, 2).says;
}

}  // namespace idem::gateway::eval
