#include "gateway/eval/runner.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "gateway/eval/evaluation.hpp"
#include "gateway/eval/restart.hpp"
#include "gateway/eval/token_input.hpp"
#include "upstream/net/event.hpp"

namespace idem::gateway::eval {

net::task<std::string> evaluation::environment_of(determinism::prober& at, std::vector<std::string>* facts) {
    if (engine_.probes.facts.empty()) co_return std::string("none");
    const auto r = co_await at.read_facts();
    if (!r.facts) co_return std::string("unknown");
    if (facts && facts->empty()) {
        for (const auto& f : r.facts->facts())
            facts->push_back(f.name + "=" + f.value + " (" + std::string(to_string(f.from)) + ")");
    }
    co_return to_hex(r.facts->id().bytes);
}

net::task<std::string> evaluation::environment() {
    co_return co_await environment_of(prober_, &about_.facts);
}

net::task<void> evaluation::look_elsewhere() {
    for (const auto& each : siblings_) {
        std::string now = co_await environment_of(each->prober, nullptr);
        each->environment = std::move(now);
    }
}

std::string evaluation::elsewhere() const {
    std::string out;
    for (std::size_t i = 0; i < siblings_.size(); ++i) {
        if (siblings_[i]->environment == "unknown") return "unknown";
        out += (i == 0 ? "" : "; ") + about_.replicas[i + 1].id + "=" + siblings_[i]->environment;
    }
    return out;
}

// By the server itself. Returns what went wrong.
net::task<std::string> evaluation::tokenize_prompts() {
    for (prompt& p : about_.prompts) {
        if (stopped_ || has_token_ids(p)) continue;
        std::string answer, why;
        while (auto call = next_token_call(about_.engine, p, about_.model, answer, why)) {
            const told t = co_await ask(connections_, beside_, settings_.timeouts, settings_.credential, live_,
                                        call->path, std::move(call->body));
            if (t.status != 200 || !t.error.empty())
                co_return "--input tokens: " + call->path + " gives no tokens of \"" + p.id +
                    "\": " + (t.error.empty() ? "status " + std::to_string(t.status) : t.error);
            answer = t.body;
        }
        auto made = why.empty() ? with_token_ids(about_.engine, p, answer, why) : std::nullopt;
        if (!made) co_return "--input tokens: " + why;
        p = std::move(*made);
    }
    co_return std::string();
}

// What a call of each prompt takes; nothing, and why, where the first one gets no usable answer. Prompts differ a
// hundredfold in length.
net::task<std::vector<double>> evaluation::try_prompts(std::string& why) {
    std::vector<double> ms;
    for (const prompt& p : about_.prompts) {
        if (stopped_) break;
        const told t = co_await ask(connections_, settings_.to, settings_.timeouts, settings_.credential, live_, p.path,
                                    forms_->greedy(p, false));
        const bool good = t.status == 200 && t.error.empty();
        if (!good && ms.empty()) {
            why = t.error.empty() ? "status " + std::to_string(t.status) : t.error;
            if (!t.detail.empty()) why += ", " + t.detail;
            break;
        }
        ms.push_back(t.total_ms);
    }
    co_return ms;
}

unsigned evaluation::answers_in_a_run(const block& b) const {
    switch (b.what) {
        case cell::replicas:
            return static_cast<unsigned>(settings_.replicas.size());
        case cell::gateway:
            return 2;
        case cell::history:
            return forms_->repeats_samples(prompt_of(b)) ? 2 : 1;
        default:
            return 1;
    }
}

// Calls beside the runs and before them come on top.
forecast evaluation::forecast_of(const std::vector<block>& plan, const std::vector<double>& call_ms) const {
    forecast out;
    for (const block& b : plan) {
        const std::uint64_t answers = std::uint64_t{b.runs} * answers_in_a_run(b);
        out.runs += answers;
        out.ms += static_cast<double>(answers) * call_ms[b.prompt];
    }
    return out;
}

void evaluation::skip_what_cannot_be() {
    const auto drop = [&](cell c, std::string why) {
        if (std::erase(cells_, c) > 0) about_.skipped.push_back({std::string(to_string(c)), std::move(why)});
    };
    const auto any = [&](auto can) { return std::ranges::any_of(about_.prompts, can); };
    if (!any([&](const prompt& p) { return forms_->starts_cold(p); }))
        drop(cell::solo_hot,
             "no way is known to start this engine from a known state, so every call is as warm as the next: solo-cold "
             "stands for both");
    if (!any([&](const prompt& p) { return forms_->shares(p); }))
        drop(cell::prefix,
             "no way is known to start this engine from a known state, so nothing is known of what is in its cache");
    if (!any([&](const prompt& p) { return forms_->streams(p); }))
        drop(cell::form, "no prompt's API is known to stream");
    if (settings_.replicas.size() < 2) drop(cell::replicas, "there is one server (others are named with --replica)");
    if (settings_.restart.empty())
        drop(cell::restart, "no command was named that starts the server anew (--restart-command)");
    if (!settings_.gateway) drop(cell::gateway, "no gateway was named (--gateway)");
    about_.cells.clear();
    for (const cell c : cells_) about_.cells.emplace_back(to_string(c));
}

// What was broken off in the middle of a block is left out and made anew. Returns what went wrong.
std::string evaluation::keep_ended_blocks(std::set<unsigned>& ended) {
    recording before;
    std::string error;
    if (!read_directory(settings_.directory, before, error)) return error;
    for (const block_record& b : before.blocks) ended.insert(b.block);
    const std::string file = settings_.directory + "/runs.jsonl", fresh = file + ".new";
    {
        std::ofstream out(fresh, std::ios::binary);
        for (const run_record& r : before.runs)
            if (ended.contains(r.block)) out << to_line(r) << '\n';
        for (const block_record& b : before.blocks) out << to_line(b) << '\n';
        out.flush();
        if (!out) return "cannot write " + fresh;
    }
    std::error_code ec;
    std::filesystem::rename(fresh, file, ec);
    return ec ? "cannot replace " + file + ": " + ec.message() : std::string();
}

// Fewer runs of each prompt where the time would not do; never fewer than two.
void evaluation::fit_budget(const std::vector<double>& call_ms) {
    if (settings_.budget.count() == 0) return;
    const double needed = forecast_of(make_plan(cells_, about_.prompts, about_.seed), call_ms).ms;
    const auto given = static_cast<double>(settings_.budget.count());
    if (needed <= given) return;
    for (prompt& p : about_.prompts) p.runs = std::max(2U, static_cast<unsigned>(p.runs * given / needed));
}

// Until it answers again. Returns what went wrong.
net::task<std::string> evaluation::start_anew() {
    constexpr net::duration look = std::chrono::milliseconds(100), patience = std::chrono::seconds(2);
    const net::time_point limit = net::clock::now() + settings_.restart_limit;
    std::string failed = co_await run_command(on_, settings_.restart, limit, &stopped_);
    if (!failed.empty()) co_return "--restart-command: " + failed;
    connections_.drain();  // whoever was at their other end is gone
    std::string last = "it was not asked";
    net::event pause(on_);
    while (!stopped_ && net::clock::now() < limit) {
        const determinism::prober::health h = co_await prober_.check_health(false, patience);
        last = h.detail;
        bool there = h.good;
        if (there && engine_.probes.health.empty()) {  // it has no such endpoint: a call has to say it
            const prompt& p = about_.prompts.front();
            const told t = co_await ask(connections_, settings_.to, settings_.timeouts, settings_.credential, live_,
                                        p.path, forms_->greedy(p, false));
            there = t.status == 200 && t.error.empty();
            last = t.error.empty() ? "status " + std::to_string(t.status) : t.error;
        }
        if (there) {
            environment_now_ = co_await environment();
            co_return std::string();
        }
        [[maybe_unused]] const bool woken = co_await pause.wait(net::clock::now() + look);
    }
    co_return "the server did not come back: " + last;
}

net::task<void> evaluation::go(const std::function<void(const manifest&, const forecast&)>* announce,
                               const std::function<void(const progress&)>* show, outcome* end) {
    if (about_.model.empty()) about_.model = co_await prober_.find_model();
    forms_.emplace(engine_, about_.model);
    about_.environment = environment_now_ = co_await environment();
    co_await look_elsewhere();
    const net::time_point began = net::clock::now();
    if (about_.input == "tokens") {
        end->error = co_await tokenize_prompts();
        if (!end->error.empty()) co_return;
    }
    std::string why;
    const std::vector<double> call_ms = co_await try_prompts(why);
    if (stopped_) {
        end->error = "interrupted before it began";
        co_return;
    }
    if (!why.empty()) {
        end->error = "the first call got no usable answer from " + about_.target + ": " + why;
        co_return;
    }
    std::set<unsigned> ended;
    if (settings_.resume) {
        end->error = keep_ended_blocks(ended);
        if (!end->error.empty()) co_return;
    } else {
        skip_what_cannot_be();
        fit_budget(call_ms);
        for (std::size_t i = 0; i < about_.replicas.size(); ++i)
            about_.replicas[i].environment = i == 0 ? about_.environment : siblings_[i - 1]->environment;
        std::ofstream(settings_.directory + "/manifest.json") << to_json(about_);
    }
    std::vector<block> plan = make_plan(cells_, about_.prompts, about_.seed);
    std::erase_if(plan, [&](const block& b) { return ended.contains(b.number); });
    lines_.open(settings_.directory + "/runs.jsonl", std::ios::app);
    if (!lines_) {
        end->error = "cannot write " + settings_.directory + "/runs.jsonl";
        co_return;
    }
    const forecast ahead = forecast_of(plan, call_ms);
    (*announce)(about_, ahead);
    progress now{0, ahead.runs, {}};
    for (const block& b : plan) {
        const bool over = settings_.budget.count() > 0 && net::clock::now() - began >= settings_.budget;
        if (stopped_ || over || !lines_) break;
        if (b.lifetime != lifetime_) {
            end->broken_off = co_await start_anew();
            if (!end->broken_off.empty()) break;
            lifetime_ = b.lifetime;
        }
        co_await carry_out(b);
        now.done += std::uint64_t{b.runs} * answers_in_a_run(b);
        now.took = std::chrono::duration_cast<std::chrono::milliseconds>(net::clock::now() - began);
        (*show)(now);
    }
    lines_.flush();
    if (!lines_) end->error = "cannot write " + settings_.directory + "/runs.jsonl";
    end->runs = done_;
}

outcome run(const run_settings& settings, manifest& about, std::vector<cell> cells,
            const std::function<void(const manifest&, const forecast&)>& announce,
            const std::function<void(const progress&)>& show) {
    outcome end;
    net::asio::io_context io(1);
    {
        evaluation all(io.get_executor(), settings, about, std::move(cells));
        net::asio::signal_set signals(io, SIGINT, SIGTERM);
        // The first ends what is under way and reports what there is, the second does not wait for that.
        signals.async_wait([&](const boost::system::error_code& ec, int) {
            if (ec) return;
            all.stop();
            end.interrupted = true;
            signals.async_wait([&](const boost::system::error_code& again, int) {
                if (!again) io.stop();
            });
        });
        net::asio::co_spawn(io.get_executor(), all.go(&announce, &show, &end), [&](std::exception_ptr thrown) {
            if (thrown) end.error = "the evaluation broke off";
            signals.cancel();
            all.close();
        });
        io.run();
    }
    return end;
}

}  // namespace idem::gateway::eval
