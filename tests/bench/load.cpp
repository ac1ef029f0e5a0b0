// The load generator: one thread, N keep-alive connections, one request at a time on each. Checks status, length and
// content of every answer. Prints one JSON line.
//   usage: bench_load PORT [--requests N] [--connections N] [--mode same|spellings|new-spellings|distinct] [--stream]
//                     [--body-bytes N] [--seed N] [--expect HIT|MISS] [--rate N]
// With a rate so many requests are sent a second, each on a connection that is idle; else as fast as answers come.
// Modes: one body for all; 1,000 serialisations of one logical body in turn; a new serialisation every time; a logical
// body of its own every time (misses).
#include <sys/timerfd.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/bench/wire.hpp"

namespace {

using namespace bench;

struct options {
    std::uint16_t port = 0;
    std::uint64_t requests = 20000, connections = 32, body_bytes = 600, seed = 1, rate = 0;
    std::string mode = "same", expect;
    bool stream = false;
};

options parse(int argc, char** argv) {
    options o;
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_load PORT [--requests N] [--connections N] [--mode M] [--stream] …\n");
        std::exit(2);
    }
    o.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
    for (int i = 2; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--stream") {
            o.stream = true;
            continue;
        }
        if (i + 1 == argc) std::exit(2);
        const char* value = argv[++i];
        if (name == "--requests")
            o.requests = std::strtoull(value, nullptr, 10);
        else if (name == "--connections")
            o.connections = std::strtoull(value, nullptr, 10);
        else if (name == "--body-bytes")
            o.body_bytes = std::strtoull(value, nullptr, 10);
        else if (name == "--rate")
            o.rate = std::strtoull(value, nullptr, 10);
        else if (name == "--seed")
            o.seed = std::strtoull(value, nullptr, 10);
        else if (name == "--mode")
            o.mode = value;
        else if (name == "--expect")
            o.expect = value;
        else
            std::exit(2);
    }
    return o;
}

// Bodies of one logical request, or of many. Spellings differ in the order of keys, in white space, in escapes and in
// how numbers are written: everything that leaves the meaning of JSON alone.
class bodies {
public:
    explicit bodies(const options& o) : o_(o), random_(o.seed) {
        const std::string bare = spell("", false);
        text_.assign(o.body_bytes > bare.size() ? o.body_bytes - bare.size() : 1, 'x');
        for (std::size_t i = 0; i < text_.size(); ++i)
            text_[i] = "The quick brown fox jumps over the lazy dog. "[i % 45];
        if (o.mode == "spellings") {
            for (int i = 0; i < 1000; ++i) ready_.push_back(spell(text_, true));
        } else if (o.mode == "same") {
            ready_.push_back(spell(text_, false));
        }
    }

    [[nodiscard]] std::string next() {
        ++count_;
        if (!ready_.empty()) return ready_[count_ % ready_.size()];
        if (o_.mode == "new-spellings") return spell(text_, true);
        const std::string tag = std::to_string(o_.seed) + "-" + std::to_string(count_) + " ";
        return spell(tag + text_.substr(std::min(tag.size(), text_.size())), false);
    }

private:
    options o_;
    std::mt19937_64 random_;
    std::string text_;
    std::vector<std::string> ready_;
    std::uint64_t count_ = 0;

    std::string blank(bool vary) { return vary ? std::string(random_() % 3, ' ') : ""; }

    std::string quoted(const std::string& text, bool vary) {
        std::string out = "\"";
        for (const char c : text) {
            if (vary && random_() % 64 == 0) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
                out += escape;
            } else {
                out += c;
            }
        }
        return out + "\"";
    }

    std::string spell(const std::string& text, bool vary) {
        static const char* const zeros[] = {"0", "0.0", "-0", "0e0"};
        std::vector<std::string> members = {
            R"("model":)" + blank(vary) + quoted("bench", vary),
            R"("messages":)" + blank(vary) +
                R"([{"role":"system","content":"You are a careful reviewer."},{"role":"user","content":)" +
                quoted(text, vary) + "}]",
            R"("temperature":)" + blank(vary) + (vary ? zeros[random_() % 4] : "0"),
            R"("seed":)" + std::string(vary && random_() % 2 == 0 ? "7.0" : "7"),
            R"("max_tokens":)" + blank(vary) + "256",
            R"("top_p":1)",
            R"("user":"bench")",
        };
        if (o_.stream) members.emplace_back(R"("stream":true)");
        if (vary) std::shuffle(members.begin(), members.end(), random_);
        std::string out = "{";
        for (std::size_t i = 0; i < members.size(); ++i) out += (i == 0 ? "" : ",") + blank(vary) + members[i];
        return out + "}";
    }
};

struct client {
    int fd = -1;
    response_reader reader;
    std::int64_t sent = 0;
    bool first_seen = false, busy = false;
};

struct totals {
    std::vector<std::int64_t> whole, first;  // ns
    std::uint64_t finished = 0, errors = 0, started = 0, length = 0, hash = 0, expected_cache = 0;
};

void send_next(client& c, bodies& source, totals& t) {
    const std::string body = source.next();
    std::string text =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: "
        "Bearer bench-key"
        "\r\nAccept: application/json\r\nUser-Agent: bench/1\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n";
    text += body;
    c.reader.reset();
    c.first_seen = false;
    c.busy = true;
    c.sent = now_ns();
    if (write(c.fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail("write");
    ++t.started;
}

// True when the connection has its answer.
bool receive(client& c, totals& t, const options& o) {
    char buffer[65536];
    const ssize_t n = read(c.fd, buffer, sizeof buffer);
    if (n < 0 && errno == EAGAIN) return false;
    if (n <= 0) {
        std::fprintf(stderr, "bench_load: the connection ended after %llu answers\n",
                     static_cast<unsigned long long>(t.finished));
        std::exit(1);
    }
    c.reader.feed({buffer, static_cast<std::size_t>(n)});
    const std::int64_t now = now_ns();
    if (c.reader.first_body_byte && !c.first_seen) {
        c.first_seen = true;
        t.first.push_back(now - c.sent);
    }
    if (c.reader.broken) fail("bench_load: not an HTTP/1.1 response that this program reads");
    if (!c.reader.done) return false;
    t.whole.push_back(now - c.sent);
    ++t.finished;
    if (t.finished == 1) {
        t.length = c.reader.body_bytes;
        t.hash = c.reader.body_hash;
    }
    const bool good = c.reader.status == 200 && c.reader.body_bytes == t.length && c.reader.body_hash == t.hash &&
                      !c.reader.surplus();
    t.errors += good ? 0 : 1;
    t.expected_cache += o.expect.empty() || c.reader.cache == o.expect ? 1 : 0;
    c.busy = false;
    return true;
}

// Ticks as often as requests are due.
int ticker(std::uint64_t rate) {
    const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const auto every = static_cast<std::int64_t>(1'000'000'000 / rate);
    const timespec pause{every / 1'000'000'000, every % 1'000'000'000};
    const itimerspec when{pause, pause};
    if (fd < 0 || timerfd_settime(fd, 0, &when, nullptr) != 0) fail("timerfd");
    return fd;
}

// One request for each tick. Who finds no idle connection sends late, and its latency counts from then: with few
// connections busy at the rates that are meant this does not happen.
void send_due(int timer, std::vector<client>& clients, bodies& source, totals& t, const options& o) {
    std::uint64_t due = 0;
    if (read(timer, &due, sizeof due) != sizeof due) return;
    for (client& c : clients) {
        if (due == 0 || t.started == o.requests) return;
        if (c.busy) continue;
        send_next(c, source, t);
        --due;
    }
}

double percentile(std::vector<std::int64_t>& values, double share) {
    if (values.empty()) return 0;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * share);
    std::nth_element(values.begin(), at, values.end());
    return static_cast<double>(*at) / 1000.0;
}

}  // namespace

int main(int argc, char** argv) {
    const options o = parse(argc, argv);
    raise_file_limit();
    bodies source(o);
    totals t;
    t.whole.reserve(o.requests);
    t.first.reserve(o.requests);
    std::vector<client> clients(std::min(o.connections, o.requests));
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    for (std::size_t i = 0; i < clients.size(); ++i) {
        clients[i].fd = connect_to(o.port);
        watch(poll, clients[i].fd, EPOLLIN, i);
    }
    const std::int64_t began = now_ns();
    const int timer = o.rate != 0 ? ticker(o.rate) : -1;
    if (timer >= 0)
        watch(poll, timer, EPOLLIN, clients.size());
    else
        for (client& c : clients) send_next(c, source, t);
    epoll_event events[256];
    while (t.finished < o.requests) {
        const int n = epoll_wait(poll, events, 256, 30'000);
        if (n == 0) fail("bench_load: no answer within 30 s");
        for (int i = 0; i < n; ++i) {
            if (events[i].data.u64 == clients.size()) {
                send_due(timer, clients, source, t, o);
                continue;
            }
            client& c = clients[events[i].data.u64];
            if (receive(c, t, o) && timer < 0 && t.started < o.requests) send_next(c, source, t);
        }
    }
    const double seconds = static_cast<double>(now_ns() - began) / 1e9;
    std::printf(
        "{\"requests\":%llu,\"seconds\":%.3f,\"rps\":%.0f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"first_p50_us\":%.1f,"
        "\"errors\":%llu,\"length\":%llu,\"expected_cache\":%llu}\n",
        static_cast<unsigned long long>(t.finished), seconds, static_cast<double>(t.finished) / seconds,
        percentile(t.whole, 0.5), percentile(t.whole, 0.99), percentile(t.first, 0.5),
        static_cast<unsigned long long>(t.errors), static_cast<unsigned long long>(t.length),
        static_cast<unsigned long long>(t.expected_cache));
    return t.errors == 0 ? 0 : 1;
}
