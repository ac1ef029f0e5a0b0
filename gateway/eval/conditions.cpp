// What is done in each cell.
#include <algorithm>

#include "gateway/eval/evaluation.hpp"
#include "upstream/client/fetch.hpp"
#include "upstream/engine/idle.hpp"
#include "upstream/net/event.hpp"

namespace idem::gateway::eval {

namespace {

constexpr unsigned most_neighbours = 7;
constexpr net::duration look = std::chrono::milliseconds(10);

std::int64_t unix_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Of a gateway whose outcome this is: the engine was not asked.
bool from_store(std::string_view outcome) {
    return outcome == "HIT" || outcome == "STALE" || outcome == "SEMANTIC" || outcome == "COALESCED";
}

}  // namespace

net::task<void> evaluation::carry_out(block b) {
    block_record record;
    record.block = b.number;
    record.cell = to_string(b.what);
    record.environment_before = environment_now_;
    if (b.what == cell::replicas) record.elsewhere_before = elsewhere();
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
                case cell::gateway:
                    co_await both_ways(b, run);
                    break;
                case cell::prefix:
                    co_await after_its_beginning(b, run);
                    break;
                case cell::replicas:
                    co_await everywhere(b, run);
                    break;
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
    if (b.what == cell::replicas) {
        co_await look_elsewhere();
        record.elsewhere_after = elsewhere();
    }
    record.peak_running = peak_running_;
    record.peak_in_flight = peak_in_flight_;
    record.others_answered = others_answered_;
    record.others_failed = others_failed_;
    if (!stopped_) write(to_line(record));
}

net::task<void> evaluation::one(block b, unsigned run, std::string variant, std::string body, std::uint64_t seed,
                                const client::target* at) {
    run_record r;
    r.cell = to_string(b.what);
    r.prompt = prompt_of(b).id;
    r.variant = std::move(variant);
    r.run = run;
    r.block = b.number;
    r.lifetime = b.lifetime;
    r.seed = seed;
    r.at = unix_ms();
    r.in_flight = ++in_flight_;
    peak_in_flight_ = std::max(peak_in_flight_, in_flight_);
    upstream::http::fields fields = settings_.credential;
    const bool through = settings_.gateway && at == &*settings_.gateway;
    if (through) fields.add("Cache-Control", "no-cache, no-store");
    told t = co_await ask(connections_, at ? *at : settings_.to, settings_.timeouts, fields, live_, prompt_of(b).path,
                          std::move(body));
    --in_flight_;
    if (stopped_) co_return;  // it may be that which ended it
    r.first_byte_ms = t.first_byte_ms;
    r.total_ms = t.total_ms;
    r.status = t.status;
    r.error = std::move(t.error);
    if (through && from_store(t.cache)) r.error = "answered_from_store";
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

// As an object and as a stream in turn; each way is the first as often as the other.
net::task<void> evaluation::both_ways(block b, unsigned run) {
    const prompt& p = prompt_of(b);
    const client::target* const ways[] = {nullptr, &*settings_.gateway};
    for (unsigned i = 0; i < 2 && !stopped_; ++i) {
        const client::target* way = ways[(run / 2 + i) % 2];
        std::string body = forms_->greedy(p, false);
        if (run % 2 == 1 && forms_->streams(p)) body = forms::as_stream(body);
        co_await one(b, run, way ? "gateway" : "direct", std::move(body), 0, way);
    }
}

// Each server is the first in turn.
net::task<void> evaluation::everywhere(block b, unsigned run) {
    const std::size_t servers = settings_.replicas.size();
    for (std::size_t i = 0; i < servers && !stopped_; ++i) {
        const std::size_t which = (run + i) % servers;
        co_await one(b, run, about_.replicas[which].id, forms_->greedy(prompt_of(b), false), 0,
                     &settings_.replicas[which]);
    }
}

net::task<void> evaluation::after_its_beginning(block b, unsigned run) {
    const prompt& p = prompt_of(b);
    if (!forms_->shares(p)) co_return co_await one(b, run, {}, forms_->greedy(p, true), 0);
    shared_beginning both = forms_->sharing(p, shared_lengths[run % std::size(shared_lengths)]);
    [[maybe_unused]] const bool answered = co_await call_beside({p.path, std::move(both.before), 0});
    if (!stopped_) co_await one(b, run, {}, std::move(both.then), 0);
}

net::task<bool> evaluation::call_other(const prompt* beside) {
    co_return co_await call_beside(forms_->other(about_.prompts, *beside, asked_++));
}

// Whether it was answered.
net::task<bool> evaluation::call_beside(neighbour n) {
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

}  // namespace idem::gateway::eval
