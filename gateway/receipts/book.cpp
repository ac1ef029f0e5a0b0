#include "gateway/receipts/book.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gateway/receipts/envelope.hpp"

namespace idem::gateway::receipts {

namespace json = boost::json;
namespace net = upstream::net;

namespace {

constexpr std::size_t queue_bytes = std::size_t{64} << 20, most_jobs = 65'536, batch = 1024;
constexpr auto gather = std::chrono::milliseconds(20);  // one sync for what comes in that time
constexpr auto sweep_every = std::chrono::seconds(30);
constexpr auto find_within = std::chrono::seconds(1);

std::int64_t unix_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string served_body(const serve_record& r) {
    const cache::entry& e = *r.answer;
    json::object o{{"type", "served"},
                   {"time", r.at},
                   {"request_id", std::string_view(r.request_id.data())},
                   {"key", to_hex(e.key.value.bytes)},
                   {"fill", to_hex(e.fill.bytes)},
                   {"request", to_hex(e.request.bytes)},
                   {"output", to_hex(e.output.bytes)},
                   {"outcome", to_string(r.what)},
                   {"policy", r.policy}};
    if (r.aborted) o["aborted"] = true;
    return json::serialize(o);
}

// What signatures of this gateway are checked with: every key that it has ever used.
void remember_public(const std::string& directory, const signing_key& key) {
    const std::string path = directory + "/public-keys.pem", pem = key.public_pem();
    std::ifstream there(path);
    const std::string text(std::istreambuf_iterator<char>(there), {});
    if (text.find(pem) != std::string::npos) return;
    std::ofstream(path, std::ios::app) << pem;
}

}  // namespace

std::unique_ptr<book> book::open(book_options options, std::string& error) {
    std::error_code ec;
    std::filesystem::create_directories(options.directory, ec);
    if (ec) {
        error = "cannot make " + options.directory + ": " + ec.message();
        return nullptr;
    }
    std::filesystem::permissions(options.directory, std::filesystem::perms::owner_all, ec);
    bool created = false;
    auto key = load_or_create_key(options.key_file, created, error);
    if (!key) return nullptr;
    std::unique_ptr<book> made(new book(std::move(options), std::move(*key)));
    if (created) made->say("a new key was made: " + made->options_.key_file);
    remember_public(made->options_.directory, made->key_);
    std::vector<std::string> said;
    error = made->chain_.open(made->options_.directory, unix_ms(), said);
    for (const std::string& line : said) made->say(line);
    if (!error.empty()) return nullptr;
    made->thread_ = std::thread([b = made.get()] {
        pthread_setname_np(pthread_self(), "idem-receipts");
        b->run();
    });
    return made;
}

book::book(book_options options, signing_key key)
    : options_(std::move(options)), key_(std::move(key)), store_(options_.directory), queue_(queue_bytes, most_jobs) {}

book::~book() {
    close();
}

void book::say(std::string_view line) const {
    if (options_.log) options_.log(line);
}

void book::lost(std::uint64_t records) noexcept {
    lost_.fetch_add(records, std::memory_order_relaxed);
    unwritten_gap_.fetch_add(records, std::memory_order_relaxed);
}

void book::issue(cache::entry_ptr answer, circumstances about) {
    const std::size_t bytes = sizeof(issue_job) + answer->body.size();
    if (!queue_.push(issue_job{std::move(answer), std::move(about)}, bytes)) lost(1);
}

void book::served(serve_record record) {
    if (!queue_.push(std::move(record), sizeof(serve_record))) lost(1);
}

net::task<std::string> book::find(cache::cache_key key, id128 fill) {
    const auto on = co_await net::asio::this_coro::executor;
    auto answer = std::make_shared<cache::pending<std::string>>(on);
    if (!queue_.push(find_job{key, fill, answer}, sizeof(find_job))) co_return std::string();
    auto got = co_await cache::await_pending(std::move(answer), net::clock::now() + find_within);
    co_return got ? std::move(*got) : std::string();
}

void book::close() {
    if (!thread_.joinable()) return;
    queue_.close();
    thread_.join();
}

book_counters book::counters() const noexcept {
    const auto figure = [](const std::atomic<std::uint64_t>& a) { return a.load(std::memory_order_relaxed); };
    return {figure(issued_), figure(served_), figure(lost_), figure(heads_), figure(heads_failed_)};
}

void book::run() {
    using clock = std::chrono::steady_clock;
    send_head();
    clock::time_point rest{}, head_due = clock::now() + options_.interval, sweep_due = clock::now() + sweep_every;
    while (!queue_.drained()) {
        // A gap is told as soon as there is room for it, also where nothing else comes.
        auto until = std::min(head_due, sweep_due);
        if (unwritten_gap_.load(std::memory_order_relaxed) > 0) until = std::min(until, clock::now() + gather);
        std::vector<job> jobs = queue_.take(batch, queue_bytes, until, rest);
        if (!jobs.empty()) rest = clock::now() + gather;
        work(std::move(jobs));
        if (chain_.full()) roll();
        if (clock::now() >= head_due) {
            if (chain_.end().n != head_at_) send_head();
            head_due = clock::now() + options_.interval;
        }
        if (clock::now() >= sweep_due) {
            if (options_.keep.count() > 0) store_.sweep((unix_ms() - options_.keep.count()) / 1000);
            sweep_due = clock::now() + sweep_every;
        }
    }
    append({json::serialize(json::object{{"type", "closed"}, {"time", unix_ms()}})});
    send_head();
}

void book::work(std::vector<job> jobs) {
    std::vector<std::string> bodies;
    std::vector<const find_job*> asked;
    for (const job& j : jobs) {
        if (const auto* issued = std::get_if<issue_job>(&j)) {
            if (std::string body = issue_now(*issued); !body.empty()) bodies.push_back(std::move(body));
        } else if (const auto* record = std::get_if<serve_record>(&j)) {
            bodies.push_back(served_body(*record));
        } else if (const auto* question = std::get_if<find_job>(&j)) {
            asked.push_back(question);
        }
    }
    const bool written = append(std::move(bodies));
    for (const find_job* q : asked)
        if (!q->answer->abandoned()) q->answer->deliver(store_.get(q->key, q->fill));
    const auto served =
        std::ranges::count_if(jobs, [](const job& j) { return std::holds_alternative<serve_record>(j); });
    if (written) served_.fetch_add(static_cast<std::uint64_t>(served), std::memory_order_relaxed);
}

std::string book::issue_now(const issue_job& j) {
    const cache::entry& e = *j.answer;
    circumstances about = j.about;
    about.configuration = options_.configuration;
    const std::string text = seal(statement_of(e, about, key_.id()), key_);
    if (const std::string error = store_.put(e.key, e.fill, text); !error.empty()) {
        if (!std::exchange(troubled_, true)) say(error);
        lost(1);
        return {};
    }
    issued_.fetch_add(1, std::memory_order_relaxed);
    return json::serialize(json::object{{"type", "issued"},
                                        {"time", e.created},
                                        {"key", to_hex(e.key.value.bytes)},
                                        {"fill", to_hex(e.fill.bytes)},
                                        {"receipt", to_hex(sha256(text).bytes)}});
}

bool book::append(std::vector<std::string> bodies) {
    const std::uint64_t gap = unwritten_gap_.load(std::memory_order_relaxed);
    const std::size_t records = bodies.size();
    if (gap > 0)
        bodies.push_back(json::serialize(json::object{{"type", "gap"}, {"records", gap}, {"time", unix_ms()}}));
    if (bodies.empty()) return true;
    if (chain_.append(bodies)) {
        unwritten_gap_.fetch_sub(gap, std::memory_order_relaxed);
        if (std::exchange(troubled_, false)) say("the chain can be written again");
        return true;
    }
    if (!std::exchange(troubled_, true)) say("the chain cannot be written: " + chain_.trouble());
    lost(records);
    return false;
}

void book::roll() {
    append({json::serialize(json::object{{"type", "closed"}, {"time", unix_ms()}})});
    send_head();
    std::vector<std::string> said;
    const std::string error = chain_.roll(options_.directory, unix_ms(), said);
    for (const std::string& line : said) say(line);
    if (!error.empty()) say(error);
}

void book::send_head() {
    const std::string head = head_of(chain_.end(), unix_ms(), key_);
    const bool taken = !options_.sink || options_.sink(head);
    (taken ? heads_ : heads_failed_).fetch_add(1, std::memory_order_relaxed);
    if (taken) head_at_ = chain_.end().n;
    if (std::exchange(heads_troubled_, !taken) == taken)
        say(taken ? "heads reach their sink again"
                  : "no head reaches the sink: that the end of the chain is missing could not be seen");
}

}  // namespace idem::gateway::receipts
