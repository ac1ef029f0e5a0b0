#include "gateway/app/open_book.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json.hpp>
#include <future>

#include "gateway/config/describe.hpp"
#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace net = upstream::net;

namespace {

constexpr auto head_within = std::chrono::seconds(2);

// One write each, so that lines of two processes do not mix.
bool write_line(int file, const std::string& text) {
    const std::string line = text + "\n";
    return file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

bool append_synced(const std::string& path, const std::string& text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const bool good = write_line(file, text) && ::fdatasync(file) == 0;
    if (file >= 0) ::close(file);
    return good;
}

// The record of a chain holds its youngest head.
net::task<bool> write_head(cache::coordination& store, std::string chain, std::string head) {
    const std::string name = "receipts/head/" + chain;
    const cache::record_result there = co_await store.read_record(name);
    if (there.status == cache::record_status::failed) co_return false;
    const cache::record_result put = co_await store.write_record(name, std::move(head), there.version);
    co_return put.status == cache::record_status::ok;
}

bool to_store(net::executor control, cache::coordination& store, const std::string& head) {
    boost::system::error_code ec;
    const boost::json::value parsed = boost::json::parse(head, ec);
    if (ec) return false;
    std::string chain(parsed.at("statement").at("chain").as_string());
    auto written = boost::asio::co_spawn(control, write_head(store, std::move(chain), head), boost::asio::use_future);
    // A gateway that could not be opened runs no control thread, and must end all the same.
    return written.wait_for(head_within) == std::future_status::ready && written.get();
}

}  // namespace

std::unique_ptr<receipts::book> open_book(const config::configuration& c, net::executor control,
                                          cache::coordination* store, std::string& error) {
    if (std::ranges::none_of(c.policies, &config::policy::receipts)) return nullptr;
    receipts::book_options o;
    o.directory = c.data + "/receipts";
    o.key_file = c.receipts.key_file;
    o.configuration = sha256(config::describe_effective(c));
    o.interval = c.receipts.interval;
    o.keep = c.receipts.keep;
    o.log = [](std::string_view line) { observe::log(observe::level::warning, "receipts", line); };
    switch (c.receipts.heads) {
        case config::receipts::sink::file:
            o.sink = [path = c.receipts.heads_file](const std::string& head) { return append_synced(path, head); };
            break;
        case config::receipts::sink::standard_output:
            o.sink = [](const std::string& head) { return write_line(STDOUT_FILENO, head); };
            break;
        case config::receipts::sink::redis:
            o.sink = [control, store](const std::string& head) { return store && to_store(control, *store, head); };
            break;
    }
    auto made = receipts::book::open(std::move(o), error);
    if (!made) error = "receipts: " + error;
    if (made) observe::log(observe::level::info, "receipts", "signed by key " + made->signer());
    return made;
}

}  // namespace idem::gateway::app
