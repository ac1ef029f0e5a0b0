// The cores of `idem eval`: the plan, the records, the score and what is said of it.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "gateway/eval/baseline.hpp"
#include "gateway/eval/plan.hpp"
#include "gateway/eval/prompts.hpp"
#include "gateway/eval/report.hpp"
#include "gateway/eval/restart.hpp"
#include "gateway/eval/score.hpp"
#include "tests/unit/gateway/eval/recordings.hpp"

using namespace idem::gateway::eval;

TEST_CASE("every run is planned once, in an order that the seed gives") {
    CHECK(rc::check("any prompts", [] {
        std::vector<prompt> prompts = some_prompts();
        for (prompt& p : prompts) p.runs = *rc::gen::inRange(1U, 200U);
        const auto seed = *rc::gen::arbitrary<std::uint64_t>();
        const auto plan = make_plan(every_cell, prompts, seed);
        std::map<std::pair<cell, std::size_t>, std::vector<unsigned>> runs;
        for (std::size_t i = 0; i < plan.size(); ++i) {
            RC_ASSERT(plan[i].number == i);
            for (unsigned r = 0; r < plan[i].runs; ++r)
                runs[{plan[i].what, plan[i].prompt}].push_back(plan[i].first_run + r);
        }
        for (const auto& [of, list] : runs) {
            const unsigned wanted = of.first == cell::control ? control_runs : prompts[of.second].runs;
            RC_ASSERT(list.size() == wanted);
            RC_ASSERT(std::ranges::is_sorted(list));  // the first run of all is made first
            RC_ASSERT(list.front() == 0);
        }
        RC_ASSERT(runs.size() == std::size(every_cell) * 2 - 1);
    }));
    const auto numbers = [](std::uint64_t seed) {
        std::vector<std::pair<cell, unsigned>> out;
        for (const block& b : make_plan(every_cell, some_prompts(), seed)) out.emplace_back(b.what, b.first_run);
        return out;
    };
    CHECK(numbers(1) == numbers(1));
    CHECK(numbers(1) != numbers(2));
}

TEST_CASE("a restart comes after all else, and each lifetime has its share of every prompt's runs") {
    const auto prompts = some_prompts();
    std::map<std::pair<std::size_t, unsigned>, unsigned> share;
    unsigned now = 0;
    for (const block& b : make_plan(every_cell, prompts, 5)) {
        CHECK(b.lifetime >= now);
        now = b.lifetime;
        CHECK((b.lifetime > 0) == (b.what == cell::restart));
        if (b.lifetime > 0) share[{b.prompt, b.lifetime}] += b.runs;
    }
    CHECK(share == decltype(share){{{0, 1}, 20}, {{0, 2}, 20}, {{0, 3}, 20}, {{1, 1}, 10}, {{1, 2}, 10}, {{1, 3}, 10}});
    // Too few for one each.
    std::vector<prompt> few = prompts;
    few[0].runs = 2;
    unsigned runs = 0;
    for (const block& b : make_plan(every_cell, few, 5)) runs += b.what == cell::restart && b.prompt == 0 ? b.runs : 0;
    CHECK(runs == 2);
}

TEST_CASE("lifetimes of the server are counted as lifetimes") {
    recording all = steady();
    all.about.cells[1] = "restart";
    for (block_record& b : all.blocks)
        if (b.cell == "noise") b.cell = "restart";
    for (run_record& r : all.runs) {
        if (r.cell != "noise") continue;
        r.cell = "restart";
        r.lifetime = 1 + r.run % 3;
        if (r.lifetime == 2 && r.prompt == "one") r.body = answer("other words");
    }
    const summary s = summarise(all, 1);
    CHECK(s.says == verdict::flips);
    CHECK(s.cells[0].lifetimes == 1);
    CHECK(s.cells[1].lifetimes == 3);
    CHECK(s.cells[1].flipped_lifetimes == 1);
    const double each = idem::upstream::determinism::corrected(0.95, 2);
    CHECK(s.cells[1].lifetime_bound == idem::upstream::determinism::upper_bound(1, 3, each));
    const auto r =
        std::ranges::find_if(s.results, [](const result& x) { return x.cell == "restart" && x.prompt == "one"; });
    REQUIRE(r != s.results.end());
    CHECK(r->lifetimes.at(1).flips == 0);
    CHECK(r->lifetimes.at(2).flips == 20);
    CHECK(std::ranges::any_of(s.reasons,
                              [](const std::string& why) { return why.starts_with("restart: 1 of 3 lifetimes"); }));
}

TEST_CASE("the words of a command") {
    using words = std::vector<std::string>;
    CHECK(words_of_command("systemctl restart  vllm") == words{"systemctl", "restart", "vllm"});
    CHECK(words_of_command(R"(sh -c 'a "b" && c' "it's" x""y "")") ==
          words{"sh", "-c", "a \"b\" && c", "it's", "xy", ""});
    CHECK(words_of_command("echo $HOME;`ls`\\ ") == words{"echo", "$HOME;`ls`\\"});
    for (const std::string none : {"", "  ", "sh -c 'a", "\"", "'' x"}) CHECK(words_of_command(none).empty());
}

TEST_CASE("names of cells") {
    for (const cell c : every_cell) CHECK(cell_from(to_string(c)) == c);
    CHECK_FALSE(cell_from("solo"));
}

TEST_CASE("the built-in prompts are many, of many kinds, and calls") {
    const auto all = builtin_prompts();
    CHECK(all.size() >= 24);
    std::set<std::string> ids, kinds;
    bool chinese = false;
    std::size_t longest = 0;
    for (const prompt& p : all) {
        CHECK(ids.insert(p.id).second);
        kinds.insert(p.kind);
        chinese = chinese || p.body.find("\xe7") != std::string::npos;
        longest = std::max(longest, p.body.size());
    }
    CHECK(kinds.size() >= 8);
    CHECK(std::ranges::count(all, near_tie, &prompt::kind) >= 4);
    CHECK(chinese);
    CHECK(longest > 20'000);
    std::string error;
    CHECK(parse_prompts("{\"name\":\"a\",\"prompt\":\"x\"}\n{\"name\":\"a\",\"prompt\":\"y\"}\n", error).size() == 2);
    CHECK(error.find("\"a\"") != std::string::npos);
}

TEST_CASE("records come back as they were written, whatever bytes an answer had") {
    run_record r;
    r.cell = "noise";
    r.prompt = "one";
    r.variant = "seeded";
    r.run = 7;
    r.block = 3;
    r.lifetime = 2;
    r.seed = 0xffffffffffffffffU;
    r.at = 1700000000000;
    r.first_byte_ms = 1.25;
    r.total_ms = 9.5;
    r.in_flight = 8;
    r.status = 200;
    r.error = "upstream_timeout";
    r.form = "sse";
    const block_record b{3, "noise", "a", "b", "x=1", "x=2", 5, 8, 6, 7};
    for (const std::string body : {"data: {}\n\n", "\xff\xfe", "", "中\"\\"}) {
        r.body = body;
        recording back;
        std::string error;
        REQUIRE(read_lines(to_line(r) + "\n" + to_line(b) + "\n", back, error));
        REQUIRE(back.runs.size() == 1);
        REQUIRE(back.blocks.size() == 1);
        CHECK(back.runs[0].body == body);
        CHECK(to_line(back.runs[0]) == to_line(r));
        CHECK(to_line(back.blocks[0]) == to_line(b));
        CHECK_FALSE(back.torn);
    }
    recording torn;
    std::string error;
    CHECK(read_lines(to_line(r) + "\n{\"cell\":\"noi", torn, error));
    CHECK(torn.torn);
    CHECK(torn.runs.size() == 1);
    CHECK_FALSE(read_lines("[]\n" + to_line(r) + "\n", torn, error));
    CHECK(error.starts_with("runs.jsonl:1:"));
    manifest m = steady().about;
    m.skipped = {{"form", "why"}};
    m.facts = {"a=b (reported)"};
    m.replicas = {{"a", "http://a", "e"}, {"b", "http://b", "f"}};
    m.gateway = "http://g";
    m.upstream = "qwen";
    m.input = "tokens";
    m.prompts[0].check = "number";
    manifest again;
    CHECK(read_manifest(to_json(m), again, error));
    CHECK(to_json(again) == to_json(m));
    CHECK_FALSE(read_manifest("{}", again, error));
    CHECK_FALSE(read_manifest("nonsense", again, error));
}

TEST_CASE("the same everywhere is deterministic, and one run that differs is not") {
    const recording good = steady();
    CHECK(says(good) == verdict::deterministic);
    CHECK(summarise(good, 1).score == 1.0);
    CHECK(would_see_a_flip(good));
    for (const auto& [in, asked, run] :
         {std::tuple{"noise", "one", 0U}, {"noise", "one", 59U}, {"solo-cold", "two", 29U}, {"noise", "two", 13U}}) {
        recording bad = good;
        a_run(bad, in, asked, run).body = answer("the same word");
        const summary s = summarise(bad, 2);
        CHECK(s.says == verdict::flips);
        CHECK(s.score < 1);
        for (const cell_result& c : s.cells)
            if (c.cell != "control") CHECK(c.flips == (c.cell == in ? 1 : 0));
        const auto r =
            std::ranges::find_if(s.results, [&](const result& x) { return x.cell == in && x.prompt == asked; });
        REQUIRE(r != s.results.end());
        CHECK(r->spread.unique == 2);
        REQUIRE(r->parts);
        CHECK(r->parts->character == 13);
        CHECK(r->first_differs == (run == 0));
    }
}

TEST_CASE("what other outputs still share with the reference is said, and decides nothing") {
    recording all = steady();
    for (run_record& r : all.runs)
        if (r.cell != "control") r.body = answer("Heads it is");
    all.about.prompts[0].check = "first-word";
    const auto of = [&](std::string_view words) {
        a_run(all, "noise", "one", 3).body = answer(words);
        const summary s = summarise(all, 1);
        CHECK(s.says == (words == "Heads it is" ? verdict::deterministic : verdict::flips));
        return *std::ranges::find_if(s.results, [](const result& r) { return r.cell == "noise" && r.prompt == "one"; });
    };
    using idem::upstream::determinism::rung;
    CHECK(of("Heads it is").shared == rung::normalised);
    CHECK(of("heads, I say").shared == rung::task);
    CHECK(of("heads, I say").task_agrees == 60);
    CHECK(of("tails").shared == rung::none);
    CHECK(of("tails").task_agrees == 59);
    for (run_record& r : all.runs)
        if (r.cell != "control") r.body = answer(R"({\"a\":1,\"b\":2})");
    CHECK(of(R"({\"b\":2,\"a\":1})").shared == rung::canonical);
    std::string error;
    const auto read = parse_prompts("{\"prompt\":\"a\"}\n\n# b\n{\"prompt\":\"c\",\"check\":\"json:/x\"}\n", error);
    REQUIRE(read.size() == 2);
    CHECK(error.empty());
    CHECK(read[0].check.empty());
    CHECK(read[1].check == "json:/x");
    for (const std::string check : {"\"regex\"", "7"}) {
        error.clear();
        CHECK_FALSE(parse_prompts("{\"name\":\"odd\",\"prompt\":\"c\",\"check\":" + check + "}\n", error).empty());
        CHECK(error.find("\"odd\"") != std::string::npos);
    }
}

TEST_CASE("outputs are compared by the engine's tokens where it tells them") {
    recording all = steady();
    for (prompt& p : all.about.prompts) p.path = "/v1/completions";
    const auto told = [](std::string_view text, std::string_view ids) {
        return R"({"id":"c","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":")" +
               std::string(text) + R"(","finish_reason":"length","token_ids":[)" + std::string(ids) + "]}]}";
    };
    for (run_record& r : all.runs)
        if (r.cell != "control") r.body = told("one two", "7,8,9,10");
    a_run(all, "noise", "one", 3).body = told("one twelve", "7,8,9,11");
    const auto of = [](const summary& s) {
        return *std::ranges::find_if(s.results, [](const result& r) { return r.cell == "noise" && r.prompt == "one"; });
    };
    const summary by_ids = summarise(all, 1);
    CHECK(of(by_ids).engine_tokens);
    CHECK(of(by_ids).flips == 1);
    CHECK(of(by_ids).score == doctest::Approx(1 - 2.0 * 59 * 0.25 / (60 * 59)));
    // Another text of the same tokens: the tokens do not tell them apart.
    a_run(all, "noise", "one", 3).body = told("one twelve", "7,8,9,10");
    const summary by_words = summarise(all, 1);
    CHECK_FALSE(of(by_words).engine_tokens);
    CHECK(of(by_words).flips == 1);
}

TEST_CASE("a cell that agrees with itself and with no other has flipped") {
    recording bad = steady();
    for (run_record& r : bad.runs)
        if (r.cell == "noise" && r.prompt == "one") r.body = answer("other words");
    const summary s = summarise(bad, 2);
    CHECK(s.says == verdict::flips);
    for (const cell_result& c : s.cells)
        if (c.cell == "noise") CHECK(c.flips == 60);
}

TEST_CASE("what does not count") {
    recording all = steady();
    // A block in which the environment changed is void, and that is said first of all.
    recording moved = all;
    moved.blocks[0].environment_after = "f";
    CHECK(says(moved) == verdict::environment_changed);
    CHECK(summarise(moved, 1).voided > 0);
    // So is one without an end.
    recording open = all;
    open.blocks.pop_back();
    CHECK(summarise(open, 1).voided > 0);
    // Some calls may fail; many may not.
    recording failing = all;
    for (unsigned run = 0; run < 2; ++run) a_run(failing, "noise", "one", run).status = 500;
    CHECK(says(failing) == verdict::deterministic);
    CHECK(summarise(failing, 1).errors == 2);
    for (unsigned run = 0; run < 20; ++run) a_run(failing, "noise", "one", run).error = "upstream_reset";
    CHECK(says(failing) == verdict::not_enough);
    // Nor may one prompt go without an answer because the others make up for it.
    recording starved = all;
    for (unsigned i = 0; i < 40; ++i) {
        starved.about.prompts.push_back(starved.about.prompts[0]);
        starved.about.prompts.back().id = "more " + std::to_string(i);
        for (const std::string in : {"solo-cold", "noise"}) {
            for (unsigned run = 0; run < 60; ++run) {
                run_record r = a_run(all, in, "one", run);
                r.prompt = starved.about.prompts.back().id;
                starved.runs.push_back(std::move(r));
            }
        }
    }
    CHECK(says(starved) == verdict::deterministic);
    recording mute = starved;
    for (run_record& r : mute.runs)
        if (r.prompt == "two") r.status = 500;
    const summary without = summarise(mute, 1);
    CHECK(without.says == verdict::not_enough);
    CHECK(std::ranges::count(without.reasons,
                             R"(noise: 1 prompt has fewer runs that count than were planned: "two" 0 of 30.)") == 1);
    recording cut = starved;
    std::erase_if(cut.runs, [](const run_record& r) { return r.prompt == "two" && r.run > 27; });
    CHECK(says(cut) == verdict::not_enough);
    // Of the ways in which a cell puts a prompt none may stand in for another.
    recording ways = all;
    for (const std::string way : {"direct", "gateway"}) {
        for (unsigned run = 0; run < 60; ++run) {
            run_record r = a_run(all, "noise", "one", run);
            r.variant = way;
            if (way == "gateway" && run % 2 == 0) r.status = 503;
            ways.runs.push_back(std::move(r));
        }
    }
    CHECK(std::ranges::count(summarise(ways, 1).reasons,
                             R"(noise: 1 prompt has fewer runs that count than were planned: "one" 30 of 60.)") == 1);
    // Garbage is no answer.
    recording garbage = all;
    for (run_record& r : garbage.runs) r.body = "{]\xff";
    CHECK(says(garbage) == verdict::not_enough);
    CHECK_FALSE(would_see_a_flip(garbage));
    // A control that cannot differ proves nothing, a bound that is too wide neither.
    recording blind = all;
    for (run_record& r : blind.runs) r.body = answer("x");
    CHECK(says(blind) == verdict::not_enough);
    recording wide = all;
    wide.about.p_max = 0.01;
    CHECK(says(wide) == verdict::not_enough);
    // Nor does noise that never met.
    recording lonely = all;
    for (block_record& b : lonely.blocks) b.peak_running = 1;
    CHECK(says(lonely) == verdict::not_enough);
    lonely.about.facts = {"slots=1 (reported)"};
    CHECK(says(lonely) == verdict::deterministic);
    lonely.about.facts.clear();
    lonely.blocks.front().peak_running = 9;  // one block does not vouch for the rest
    CHECK(says(lonely) == verdict::not_enough);
    // Nor does noise of which nothing was answered.
    recording refused = all;
    for (block_record& b : refused.blocks) std::swap(b.others_answered, b.others_failed);
    CHECK(says(refused) == verdict::not_enough);
    CHECK(std::ranges::any_of(summarise(refused, 1).reasons,
                              [](const std::string& why) { return why.find("0 were answered") != std::string::npos; }));
    CHECK(says(recording{}) == verdict::not_enough);
}

TEST_CASE("answers that name another program were made in another environment") {
    recording all = steady();
    const auto named = [](std::string_view print) {
        std::string body = answer("the same words");
        body.insert(1, R"("system_fingerprint":")" + std::string(print) + R"(",)");
        return body;
    };
    for (run_record& r : all.runs)
        if (r.cell != "control") r.body = named("fp_1");
    CHECK(says(all) == verdict::deterministic);
    a_run(all, "noise", "one", 59).body = named("fp_2");
    CHECK(says(all) == verdict::environment_changed);
}

TEST_CASE("replicas may call themselves differently, and may not change") {
    recording all = steady();
    all.about.cells.emplace_back("replicas");
    all.about.replicas = {{"a", "http://a", ""}, {"b", "http://b", ""}};
    const unsigned block = static_cast<unsigned>(all.blocks.size());
    all.blocks.push_back({block, "replicas", "e", "e", "b=f", "b=f", -1, 1, 0, 0});
    for (const prompt& p : all.about.prompts) {
        for (const server& at : all.about.replicas) {
            for (unsigned run = 0; run < 60; ++run) {
                run_record r;
                r.cell = "replicas";
                r.prompt = p.id;
                r.variant = at.id;
                r.run = run;
                r.block = block;
                r.status = 200;
                r.body = answer("the same words");
                r.body.insert(1, R"("system_fingerprint":"fp_)" + at.id + R"(",)");
                all.runs.push_back(std::move(r));
            }
        }
    }
    CHECK(says(all) == verdict::deterministic);
    recording moved = all;
    moved.blocks.back().elsewhere_after = "b=g";
    CHECK(says(moved) == verdict::environment_changed);
    moved.blocks.back().elsewhere_after = "unknown";
    CHECK(says(moved) == verdict::not_enough);
    recording apart = all;
    for (run_record& r : apart.runs)
        if (r.variant == "b" && r.prompt == "one") r.body = answer("other words");
    const summary s = summarise(apart, 1);
    CHECK(s.says == verdict::flips);
    for (const result& r : s.results)
        if (r.cell != "control") CHECK(r.flips == (r.variant == "b" && r.prompt == "one" ? 60 : 0));
    recording named = all;
    a_run(named, "replicas", "one", 3).body.replace(a_run(named, "replicas", "one", 3).body.find("fp_a"), 4, "fp_z");
    CHECK(says(named) == verdict::environment_changed);
}

TEST_CASE("files that are no evaluation are refused by name") {
    const auto wrong = [](const auto& change) {
        manifest m = steady().about, into;
        change(m);
        std::string error;
        CHECK_FALSE(read_manifest(to_json(m), into, error));
        return error;
    };
    CHECK(wrong([](manifest& m) { m.engine = "warp"; }).find("\"warp\" is no engine") != std::string::npos);
    CHECK(wrong([](manifest& m) { m.prompts.clear(); }).find("no prompt") != std::string::npos);
    CHECK(wrong([](manifest& m) { m.prompts[1].runs = 0; }).find("\"two\"") != std::string::npos);
    CHECK(wrong([](manifest& m) { m.prompts[0].path = "/nowhere"; }).find("/nowhere") != std::string::npos);
    CHECK(wrong([](manifest& m) { m.cells = {"solo"}; }).find("\"solo\"") != std::string::npos);
    CHECK(wrong([](manifest& m) { m.prompts[0].check = "regex:x"; }).find("\"regex:x\"") != std::string::npos);
    CHECK(wrong([](manifest& m) { m.cells.clear(); }).find("no cell") != std::string::npos);
    for (const std::string line : {R"({"run":-1})", R"({"run":"one"})", R"({"run":1.5})", R"({"status":99999999999})",
                                   R"({"cell":7})", R"({"body":[]})", R"({"ended_block":-1})", R"({"seed":-1})"}) {
        CAPTURE(line);
        recording into;
        std::string error;
        CHECK_FALSE(read_lines(line + "\n", into, error));
        CHECK(error.starts_with("runs.jsonl:1: \""));
    }
}

TEST_CASE("a baseline is the commonest output, of blocks that count") {
    recording all = steady();
    a_run(all, "solo-cold", "one", 0).body = answer("a deviant");
    CHECK(freeze(all).outputs.at("one").find("the same words") != std::string::npos);
    for (run_record& r : all.runs)
        if (r.block == a_run(all, "solo-cold", "one", 0).block) r.body = answer("void words");
    for (block_record& b : all.blocks)
        if (b.block == a_run(all, "solo-cold", "one", 0).block) b.environment_after = "f";
    CHECK(freeze(all).outputs.at("one").find("the same words") != std::string::npos);
}

TEST_CASE("another number of prompt tokens is prompt drift, and none is not") {
    recording all = steady();
    a_run(all, "noise", "one", 5).body = answer("the same words", 0);
    CHECK_FALSE(summarise(all, 1).drift);
    a_run(all, "noise", "one", 5).body = answer("the same words", 8);
    CHECK(summarise(all, 1).drift);
}

TEST_CASE("two evaluations side by side") {
    const recording one = steady();
    CHECK(compare(one, one).same);
    recording flips = one;
    for (unsigned run = 0; run < 20; ++run) a_run(flips, "noise", "one", run).body = answer("other words");
    CHECK_FALSE(compare(one, flips).same);
    CHECK(compare(one, flips).text.find("| noise | 0 of 90 | 20 of 90 |") != std::string::npos);
    recording once = one;  // may be chance
    a_run(once, "noise", "one", 3).body = answer("other words");
    CHECK(compare(one, once).same);
    recording other = one;
    for (run_record& r : other.runs)
        if (r.prompt == "two" && r.cell != "control") r.body = answer("other words");
    CHECK_FALSE(compare(one, other).same);
    CHECK(compare(one, other).text.find("1 of 2 prompts have the same answer") != std::string::npos);
}

TEST_CASE("a baseline holds environment and answers") {
    const recording before = steady();
    std::string error;
    baseline b;
    REQUIRE(read_baseline(to_json(freeze(before)), b, error));
    CHECK(b.outputs.size() == 2);
    const auto held = [&](const recording& now) {
        summary s = summarise(now, 1);
        hold_to(b, now, s);
        return s.says;
    };
    CHECK(held(before) == verdict::deterministic);
    recording elsewhere = before;
    elsewhere.about.environment = "other";
    CHECK(held(elsewhere) == verdict::environment_changed);
    recording other = before;
    for (run_record& r : other.runs)
        if (r.prompt == "two" && r.cell != "control") r.body = answer("other words");
    CHECK(held(other) == verdict::other_answers);
    recording less = before;
    std::erase_if(less.runs, [](const run_record& r) { return r.prompt == "two"; });
    CHECK(held(less) == verdict::not_enough);
    CHECK_FALSE(read_baseline("{}", b, error));
    CHECK(error.find("idem eval baseline") != std::string::npos);
}
