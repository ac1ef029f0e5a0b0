#include "gateway/eval/runner.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "gateway/eval/asker.hpp"
#include "gateway/eval/forms.hpp"
#include "upstream/base/sequence.hpp"
#include "upstream/client/fetch.hpp"
#include "upstream/determinism/prober.hpp"
#include "upstream/engine/idle.hpp"
#include "upstream/net/event.hpp"
#include "upstream/net/task_group.hpp"

namespace idem::gateway::eval {

namespace client = upstream::client;
namespace determinism = upstream::determinism;

namespace {

constexpr unsigned most_neighbours = 7;
constexpr net::duration look = std::chrono::milliseconds(10);

std::int64_t unix_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

class evaluation {
public:
    evaluation(net::executor on, const run_settings& settings, manifest& about, std::vector<cell> cells)
        : on_(on),
          settings_(settings),
          about_(about),
          cells_(std::move(cells)),
          engine_(*upstream::engine::find(about.engine)),
          beside_(client::beside_api(settings.to)),
          connections_(on),
          prober_(connections_, beside_, settings.timeouts, engine_.probes, [this] { return settings_.credential; }),
          tasks_(on, [](std::exception_ptr) {}),
          random_(about.seed) {}

    net::task<void> go(const std::function<void(const manifest&, const std::vector<block>&, double)>* announce,
                       const std::function<void(const progress&)>* show, outcome* end);
    /// Whoever waits for an answer waits no longer.
    void stop() noexcept {
        stopped_ = true;
        live_.abort();
    }
    void close() { connections_.drain(); }

private:
    net::task<std::string> environment();
    net::task<std::vector<double>> try_prompts();
    [[nodiscard]] double time_of(const std::vector<block>& plan, const std::vector<double>& call_ms) const;
    net::task<void> carry_out(block b);
    net::task<void> one(block b, unsigned run, std::string variant, std::string body, std::uint64_t seed);
    net::task<void> burst(block b);
    net::task<void> history(block b, unsigned run);
    net::task<bool> call_other(const prompt* beside);
    net::task<void> call_others(const prompt* before);
    net::task<void> keep_busy(const prompt* beside);
    net::task<void> watch_engine();
    void skip_what_cannot_be();
    std::string keep_ended_blocks(std::set<unsigned>& ended);
    void fit_budget(const std::vector<double>& call_ms);
    const prompt& prompt_of(const block& b) const { return about_.prompts[b.prompt]; }
    void write(const std::string& line) { lines_ << line << '\n'; }

    net::executor on_;
    const run_settings& settings_;
    manifest& about_;
    std::vector<cell> cells_;
    const upstream::engine::profile& engine_;
    const client::target beside_;
    client::pool connections_;
    determinism::prober prober_;
    std::optional<forms> forms_;
    net::task_group tasks_;
    sequence random_;
    std::ofstream lines_;
    std::string environment_now_;
    std::uint64_t asked_ = 0;  // of neighbours and of calls before a run
    std::uint64_t done_ = 0;
    unsigned in_flight_ = 0, peak_in_flight_ = 0;
    int peak_running_ = -1;
    bool stopped_ = false;
    bool noisy_ = false;  // neighbours go on
    bool watched_ = false;
    live_calls live_;
    unsigned others_answered_ = 0, others_failed_ = 0;
};

net::task<std::string> evaluation::environment() {
    if (engine_.probes.facts.empty()) co_return std::string("none");
    const auto r = co_await prober_.read_facts();
    if (!r.facts) co_return std::string("unknown");
    if (about_.facts.empty()) {
        for (const auto& f : r.facts->facts())
            about_.facts.push_back(f.name + "=" + f.value + " (" + std::string(to_string(f.from)) + ")");
    }
    co_return to_hex(r.facts->id().bytes);
}

// What a call of each prompt takes; -1 in front where the first one gets no usable answer. Prompts differ a hundredfold
// in length.
net::task<std::vector<double>> evaluation::try_prompts() {
    std::vector<double> ms;
    for (const prompt& p : about_.prompts) {
        if (stopped_) break;
        const told t = co_await ask(connections_, settings_.to, settings_.timeouts, settings_.credential, live_, p.path,
                                    forms_->greedy(p, false));
        const bool good = t.status == 200 && t.error.empty();
        if (!good && ms.empty()) co_return std::vector<double>{-1};
        ms.push_back(t.total_ms);
    }
    co_return ms;
}

// Of the runs alone: those beside and before them come on top.
double evaluation::time_of(const std::vector<block>& plan, const std::vector<double>& call_ms) const {
    double sum = 0;
    for (const block& b : plan) sum += b.runs * call_ms[b.prompt];
    return sum;
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
    if (!any([&](const prompt& p) { return forms_->streams(p); }))
        drop(cell::form, "no prompt's API is known to stream");
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
    const double needed = time_of(make_plan(cells_, about_.prompts, about_.seed), call_ms);
    const auto given = static_cast<double>(settings_.budget.count());
    if (needed <= given) return;
    for (prompt& p : about_.prompts) p.runs = std::max(2U, static_cast<unsigned>(p.runs * given / needed));
}

net::task<void> evaluation::go(const std::function<void(const manifest&, const std::vector<block>&, double)>* announce,
                               const std::function<void(const progress&)>* show, outcome* end) {
    if (about_.model.empty()) about_.model = co_await prober_.find_model();
    forms_.emplace(engine_, about_.model);
    about_.environment = environment_now_ = co_await environment();
    const net::time_point began = net::clock::now();
    const std::vector<double> call_ms = co_await try_prompts();
    if (stopped_) {
        end->error = "interrupted before it began";
        co_return;
    }
    if (call_ms.front() < 0) {
        end->error = "the first call got no usable answer from " + about_.target;
        co_return;
    }
    std::set<unsigned> ended;
    if (settings_.resume) {
        end->error = keep_ended_blocks(ended);
        if (!end->error.empty()) co_return;
    } else {
        skip_what_cannot_be();
        fit_budget(call_ms);
        std::ofstream(settings_.directory + "/manifest.json") << to_json(about_);
    }
    std::vector<block> plan = make_plan(cells_, about_.prompts, about_.seed);
    std::erase_if(plan, [&](const block& b) { return ended.contains(b.number); });
    lines_.open(settings_.directory + "/runs.jsonl", std::ios::app);
    if (!lines_) {
        end->error = "cannot write " + settings_.directory + "/runs.jsonl";
        co_return;
    }
    (*announce)(about_, plan, time_of(plan, call_ms));
    progress now{0, runs_of(plan), {}};
    for (const block& b : plan) {
        const bool over = settings_.budget.count() > 0 && net::clock::now() - began >= settings_.budget;
        if (stopped_ || over || !lines_) break;
        co_await carry_out(b);
        now.done += b.runs;
        now.took = std::chrono::duration_cast<std::chrono::milliseconds>(net::clock::now() - began);
        (*show)(now);
    }
    lines_.flush();
    if (!lines_) end->error = "cannot write " + settings_.directory + "/runs.jsonl";
    end->runs = done_;
}

net::task<void> evaluation::carry_out(block b) {
    block_record record{b.number, std::string(to_string(b.what)), environment_now_, {}, -1, 0, 0, 0};
    peak_in_flight_ = others_answered_ = others_failed_ = 0;
    peak_running_ = -1;
    const prompt& p = prompt_of(b);
    const bool crowded = b.what == cell::burst || b.what == cell::noise;
    watched_ = crowded && upstream::engine::idle_probe_of(engine_.name) != nullptr;
    if (watched_) tasks_.spawn(watch_engine());
    noisy_ = b.what == cell::noise;
    const unsigned neighbours = 1 + static_cast<unsigned>(random_() % most_neighbours);
    for (unsigned i = 0; noisy_ && i < neighbours; ++i) tasks_.spawn(keep_busy(&p));
    if (b.what == cell::burst) {
        co_await burst(b);
    } else {
        for (unsigned run = b.first_run; run < b.first_run + b.runs && !stopped_; ++run) {
            switch (b.what) {
                case cell::history:
                    co_await history(b, run);
                    break;
                case cell::form: {
                    const bool stream = run % 2 == 1 && forms_->streams(p);
                    std::string body = forms_->greedy(p, false);
                    if (stream) body = forms::as_stream(body);
                    co_await one(b, run, {}, std::move(body), 0);
                    break;
                }
                case cell::control:
                    co_await one(b, run, {}, forms_->sampled(p, "1", run + 1), run + 1);
                    break;
                default:
                    co_await one(b, run, {}, forms_->greedy(p, b.what == cell::solo_hot), 0);
            }
        }
    }
    noisy_ = watched_ = false;
    [[maybe_unused]] const bool all = co_await tasks_.join();
    environment_now_ = co_await environment();
    record.environment_after = environment_now_;
    record.peak_running = peak_running_;
    record.peak_in_flight = peak_in_flight_;
    record.others_answered = others_answered_;
    record.others_failed = others_failed_;
    if (!stopped_) write(to_line(record));
}

net::task<void> evaluation::one(block b, unsigned run, std::string variant, std::string body, std::uint64_t seed) {
    run_record r;
    r.cell = to_string(b.what);
    r.prompt = prompt_of(b).id;
    r.variant = std::move(variant);
    r.run = run;
    r.block = b.number;
    r.seed = seed;
    r.at = unix_ms();
    r.in_flight = ++in_flight_;
    peak_in_flight_ = std::max(peak_in_flight_, in_flight_);
    told t = co_await ask(connections_, settings_.to, settings_.timeouts, settings_.credential, live_,
                          prompt_of(b).path, std::move(body));
    --in_flight_;
    if (stopped_) co_return;  // it may be that which ended it
    r.first_byte_ms = t.first_byte_ms;
    r.total_ms = t.total_ms;
    r.status = t.status;
    r.error = std::move(t.error);
    r.form = t.content_type.starts_with("text/event-stream") ? "sse" : "json";
    r.body = std::move(t.body);
    write(to_line(r));
    ++done_;
}

net::task<void> evaluation::burst(block b) {
    unsigned run = b.first_run, size = b.first_run / runs_in_block;
    const unsigned end = b.first_run + b.runs;
    while (run < end && !stopped_) {
        net::task_group copies(on_, [](std::exception_ptr) {});
        const unsigned together = std::min(burst_sizes[size++ % std::size(burst_sizes)], end - run);
        for (unsigned i = 0; i < together; ++i, ++run) copies.spawn(one(b, run, {}, forms_->anywhere(prompt_of(b)), 0));
        [[maybe_unused]] const bool all = co_await copies.join();
    }
}

// Sampled calls before it move a generator that all share. A greedy run shows other state that is left behind; a
// sampled one, where a seed should make that repeat, the generator.
net::task<void> evaluation::history(block b, unsigned run) {
    constexpr std::uint64_t seed = 20260101;
    const prompt& p = prompt_of(b);
    co_await call_others(&p);
    co_await one(b, run, {}, forms_->greedy(p, false), 0);
    if (!forms_->repeats_samples(p)) co_return;
    co_await call_others(&p);
    co_await one(b, run, "seeded", forms_->sampled(p, "0.8", seed), seed);
}

// Whether it was answered.
net::task<bool> evaluation::call_other(const prompt* beside) {
    neighbour n = forms_->other(about_.prompts, *beside, asked_++);
    const told t = co_await ask(connections_, settings_.to, settings_.timeouts, settings_.credential, live_, n.path,
                                std::move(n.body), n.stop_after);
    const bool answered = t.status == 200;
    ++(answered ? others_answered_ : others_failed_);
    co_return answered;
}

net::task<void> evaluation::call_others(const prompt* before) {
    const unsigned calls = 1 + static_cast<unsigned>(random_() % 3);
    for (unsigned i = 0; i < calls && !stopped_; ++i) {
        [[maybe_unused]] const bool answered = co_await call_other(before);
    }
}

net::task<void> evaluation::keep_busy(const prompt* beside) {
    while (noisy_ && !stopped_) {
        ++in_flight_;
        peak_in_flight_ = std::max(peak_in_flight_, in_flight_);
        const bool answered = co_await call_other(beside);
        --in_flight_;
        if (!answered) {  // it cannot take so many, or does not know the call: not in a busy loop
            net::event pause(on_);
            [[maybe_unused]] const bool woken = co_await pause.wait(net::clock::now() + look);
        }
    }
}

net::task<void> evaluation::watch_engine() {
    const auto* probe = upstream::engine::idle_probe_of(engine_.name);
    while (watched_) {
        client::outgoing out;
        out.method = "GET";
        out.headers = settings_.credential;
        const auto got = co_await client::fetch(connections_, beside_, settings_.timeouts, std::move(out),
                                                std::string(probe->path), {}, answer_cap);
        const auto running = !got.broke && got.status == 200 ? probe->running(got.body) : std::nullopt;
        if (running)
            peak_running_ = std::max(peak_running_, static_cast<int>(std::min<std::uint64_t>(*running, 1 << 20)));
        net::event pause(on_);
        [[maybe_unused]] const bool woken = co_await pause.wait(net::clock::now() + look, net::precision::fine);
    }
}

}  // namespace

outcome run(const run_settings& settings, manifest& about, std::vector<cell> cells,
            const std::function<void(const manifest&, const std::vector<block>&, double)>& announce,
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
