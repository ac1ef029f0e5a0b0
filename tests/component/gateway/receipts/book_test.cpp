// The book with its thread and its files: what happens when they fail.
#include "gateway/receipts/book.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "gateway/receipts/chain.hpp"
#include "tests/support/sample_entry.hpp"
#include "tests/support/temp_dir.hpp"

using namespace idem;
using namespace idem::gateway;
using namespace std::chrono_literals;

namespace {

// For as long as it lives no file grows beyond `bytes`: what a full disk does, to this process alone.
class full_disk {
public:
    explicit full_disk(std::uintmax_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    ~full_disk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    full_disk(const full_disk&) = delete;
    full_disk& operator=(const full_disk&) = delete;

private:
    rlimit before_{};
};

bool eventually(const auto& holds) {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

receipts::serve_record a_record() {
    receipts::serve_record r;
    r.answer = std::make_shared<const cache::entry>(test::sample_entry("a"));
    r.policy = "audit";
    r.at = 1;
    return r;
}

receipts::chain_reader read_chain(const std::filesystem::path& file) {
    receipts::chain_reader reader;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) CHECK_MESSAGE(reader.take(line), reader.error());
    return reader;
}

}  // namespace

TEST_CASE("a disk that is full costs records, not answers, and the chain says how many") {
    const test::temp_dir dir;
    const auto chain = dir.path() / "chain.jsonl";
    receipts::book_options options;
    options.directory = dir.path();
    options.key_file = dir.path() / "key.pem";
    std::string error;
    const auto book = receipts::book::open(std::move(options), error);
    REQUIRE_MESSAGE(book, error);
    book->served(a_record());
    REQUIRE(eventually([&] { return book->counters().served == 1; }));
    {
        const full_disk full(std::filesystem::file_size(chain));
        for (int i = 0; i < 3; ++i) book->served(a_record());
        REQUIRE(eventually([&] { return book->counters().lost == 3; }));
        CHECK(book->counters().served == 1);  // what was not written was not recorded
    }
    REQUIRE(eventually([&] { return read_chain(chain).lost() == 3; }));  // also where nothing else comes
    book->served(a_record());
    REQUIRE(eventually([&] { return book->counters().served == 2; }));
    book->close();
    const receipts::chain_reader all = read_chain(chain);
    CHECK(all.type() == "closed");
    CHECK(all.counts().at("served") == 2);
    CHECK(all.lost() == 3);
    CHECK(book->counters().lost == 3);
}

TEST_CASE("a key that could not be written whole is not there") {
    const test::temp_dir dir;
    const std::string file = dir.path() / "key.pem";
    std::string error;
    {
        const full_disk full(10);
        CHECK_FALSE(receipts::create_key(file, error));
        CHECK(error.find(file) != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(receipts::create_key(file, error));
}
