#include <algorithm>
#include <map>

#include "cache/request/key.hpp"
#include "gateway/cli/version.hpp"
#include "gateway/observe/exposition.hpp"
#include "gateway/observe/metrics_impl.hpp"
#include "gateway/observe/process.hpp"

namespace idem::gateway::observe {

namespace {

using detail::family;
using detail::histogram;
using detail::shard;

constexpr std::array<std::string_view, detail::outcomes> cache_words{"HIT",   "MISS",     "COALESCED",
                                                                     "STALE", "SEMANTIC", "BYPASS"};

std::string_view reason_word(std::uint8_t number) {
    const auto word = to_string(static_cast<reason>(number));
    return word.empty() ? "none" : word;
}

std::string_view or_none(std::string_view text, std::string_view none = "none") {
    return text.empty() ? none : text;
}

// The labels of one cell in words. Label numbers mean something within their shard only.
std::string labels_of(const shard& h, family f, std::uint64_t key) {
    const auto part = [&](int i) { return static_cast<std::uint8_t>(key >> (24 - 8 * i)); };
    const auto label = exposition::label;
    switch (f) {
        case family::requests: {
            const auto cache = part(3) == 0 ? std::string_view("other") : cache_words[part(3) - 1u];
            return label("api", or_none(h.apis.text(part(0)), "passthrough")) + "," +
                   label("upstream", or_none(h.upstreams.text(part(1)))) + "," +
                   label("code", detail::code_text(part(2))) + "," + label("cache", cache);
        }
        case family::bypass:
        case family::not_stored:
            return label("reason", reason_word(part(0)));
        case family::stored:
        case family::hits:
            return label("tier", or_none(h.tiers.text(part(0))));
        case family::upstream_calls:
            return label("upstream", or_none(h.upstreams.text(part(0)))) + "," +
                   label("code", detail::code_text(part(1)));
        case family::upstream_errors:
            return label("upstream", or_none(h.upstreams.text(part(0)))) + "," + label("reason", reason_word(part(1)));
        case family::store_errors:
            return label("tier", or_none(h.tiers.text(part(0)))) + "," +
                   label("operation", or_none(h.operations.text(part(1)))) + "," +
                   label("reason", reason_word(part(2)));
        case family::output_changes:
            return label("upstream", or_none(h.upstreams.text(part(0)))) + "," +
                   label("kind", to_string(static_cast<upstream::determinism::contrast>(part(1))));
        case family::ledger:
        case family::confirmations:
            return label("result", or_none(h.operations.text(part(0))));
        case family::none:
            break;
    }
    return {};
}

struct summed {
    std::array<std::uint64_t, detail::bounds_us.size() + 1> buckets{};
    std::uint64_t sum_us = 0, count = 0;
    void add(const histogram& h) {
        for (std::size_t i = 0; i < buckets.size(); ++i) {
            const auto n = h.buckets[i].get();
            buckets[i] += n;
            count += n;
        }
        sum_us += h.sum_us.get();
    }
};

void write(exposition& out, const std::string& name, const std::string& labels, const summed& h) {
    std::uint64_t running = 0;
    for (std::size_t i = 0; i <= detail::bounds_us.size(); ++i) {
        running += h.buckets[i];
        std::string bound;
        if (i < detail::bounds_us.size()) {
            exposition::append(bound, static_cast<double>(detail::bounds_us[i]) / 1e6);
        } else {
            bound = "+Inf";
        }
        out.sample(name + "_bucket", labels + (labels.empty() ? "" : ",") + "le=\"" + bound + "\"", running);
    }
    out.sample(name + "_sum", labels, static_cast<double>(h.sum_us) / 1e6);
    out.sample(name + "_count", labels, h.count);
}

void write_process(exposition& out) {
    const auto p = read_process();
    out.open("process_cpu_seconds_total", "User and system CPU time.", "counter");
    out.sample("process_cpu_seconds_total", "", p.cpu_seconds);
    out.open("process_resident_memory_bytes", "Resident memory.", "gauge");
    out.sample("process_resident_memory_bytes", "", p.resident_bytes);
    out.open("process_virtual_memory_bytes", "Virtual memory.", "gauge");
    out.sample("process_virtual_memory_bytes", "", p.virtual_bytes);
    out.open("process_open_fds", "Open file descriptors.", "gauge");
    out.sample("process_open_fds", "", p.open_fds);
    out.open("process_max_fds", "Limit of open file descriptors.", "gauge");
    out.sample("process_max_fds", "", p.max_fds);
    out.open("process_start_time_seconds", "Start of the process since the Unix epoch.", "gauge");
    out.sample("process_start_time_seconds", "", p.start_time_seconds);
}

}  // namespace

std::string metrics::scrape(bool open_metrics) const {
    // Sum the shards by words, so that equal labels with different numbers meet.
    std::map<family, std::map<std::string, std::uint64_t>> cells;
    std::array<summed, detail::outcomes> duration, first_byte;
    std::map<std::string, summed> upstream_duration;
    std::uint64_t saved_in = 0, saved_out = 0, saved_ms = 0;
    for (const auto& h : impl_->shards) {
        for (const auto& c : h.cells.cells()) {
            const auto key = c.key.load(std::memory_order_relaxed);
            if (key == 0) continue;
            const auto f = static_cast<family>(key >> 32);
            cells[f][labels_of(h, f, key)] += c.count.get();
        }
        for (std::size_t o = 0; o < detail::outcomes; ++o) {
            duration[o].add(h.duration[o]);
            first_byte[o].add(h.first_byte[o]);
        }
        for (std::size_t n = 0; n < h.upstream_duration.size(); ++n) {
            summed one;
            one.add(h.upstream_duration[n]);
            if (one.count == 0) continue;
            const auto name = or_none(h.upstreams.text(static_cast<std::uint8_t>(n)));
            upstream_duration[exposition::label("upstream", name)].add(h.upstream_duration[n]);
        }
        saved_in += h.saved_in.get();
        saved_out += h.saved_out.get();
        saved_ms += h.saved_ms.get();
    }

    exposition out(open_metrics);
    const auto counters = [&](family f, const std::string& name, std::string_view help) {
        out.open(name, help, "counter");
        for (const auto& [labels, n] : cells[f]) out.sample(name, labels, n);
    };
    const auto by_outcome = [&](const std::string& name, std::string_view help, const auto& all) {
        out.open(name, help, "histogram");
        for (std::size_t o = 0; o < detail::outcomes; ++o) {
            if (all[o].count > 0) write(out, name, exposition::label("cache", cache_words[o]), all[o]);
        }
    };
    out.open("idem_build_info", "Always 1; the labels tell the build.", "gauge");
    out.sample(
        "idem_build_info",
        exposition::label("version", cli::version()) + "," + exposition::label("key_version", cache::key_version),
        std::uint64_t{1});
    counters(family::requests, "idem_requests_total", "Finished requests.");
    counters(family::hits, "idem_hits_total", "Requests answered from a tier of the store.");
    counters(family::bypass, "idem_bypass_total", "Requests that were not looked up, by reason.");
    counters(family::stored, "idem_stored_total", "Answers stored.");
    counters(family::not_stored, "idem_not_stored_total", "Answers not stored, by reason.");
    by_outcome("idem_request_duration_seconds", "From a request's first byte to its answer's last.", duration);
    by_outcome("idem_time_to_first_byte_seconds", "From a request's first byte to its answer's first.", first_byte);
    counters(family::upstream_calls, "idem_upstream_requests_total", "Calls to upstreams that got a status.");
    counters(family::upstream_errors, "idem_upstream_errors_total", "Calls to upstreams that failed, by reason.");
    out.open("idem_upstream_request_duration_seconds", "Calls to upstreams, from start to end.", "histogram");
    for (const auto& [labels, h] : upstream_duration) write(out, "idem_upstream_request_duration_seconds", labels, h);
    counters(family::store_errors, "idem_store_errors_total", "Operations of a store that failed, by reason.");
    counters(family::output_changes, "idem_output_changes_total",
             "Fills whose output was another than an earlier one of the same request: divergence, drift or variation.");
    counters(family::confirmations, "idem_unconfirmed_total",
             "Answers of memory that the second tier had not confirmed since it was lost: restored there, the same "
             "there, replaced by the one there, failed, or given blind while it is away.");
    counters(family::ledger, "idem_ledger_records_total", "Records for the ledger: written, failed or dropped.");
    out.open("idem_saved_tokens_total", "Tokens in answers that no upstream had to compute again.", "counter");
    out.sample("idem_saved_tokens_total", "direction=\"in\"", saved_in);
    out.sample("idem_saved_tokens_total", "direction=\"out\"", saved_out);
    out.open("idem_saved_upstream_seconds_total", "Upstream time that stored answers saved.", "counter");
    out.sample("idem_saved_upstream_seconds_total", "", static_cast<double>(saved_ms) / 1e3);

    {
        const std::lock_guard lock(impl_->provided_mutex);
        std::multimap<std::string_view, const provided*> sorted;  // one family's samples must stand together
        for (const auto& p : impl_->provided_values) sorted.emplace(p.name, &p);
        for (const auto& [name, p] : sorted) {
            out.open(name, p->help, p->type);
            out.sample(name, p->labels, p->read());
        }
    }
    write_process(out);
    return out.finish();
}

}  // namespace idem::gateway::observe
