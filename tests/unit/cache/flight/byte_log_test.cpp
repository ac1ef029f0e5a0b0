#include "cache/flight/byte_log.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using idem::cache::byte_log;

namespace {

std::string read_all(const byte_log& log, std::uint64_t from) {
    std::string out;
    while (from < log.size()) {
        const std::string_view piece = log.at(from, log.size());
        if (piece.empty()) break;
        out += piece;
        from += piece.size();
    }
    return out;
}

}  // namespace

TEST_CASE("a log gives back what was appended, from any offset") {
    CHECK(rc::check([](const std::vector<std::string>& pieces) {
        byte_log log;
        std::string all;
        for (const std::string& p : pieces) {
            log.append(p);
            all += p;
        }
        RC_ASSERT(log.join() == all);
        const auto offset = *rc::gen::inRange<std::size_t>(0, all.size() + 1);
        RC_ASSERT(read_all(log, offset) == all.substr(offset));
    }));
}

TEST_CASE("views stay valid while the log grows") {
    byte_log log;
    log.append("first");
    const std::string_view seen = log.at(0, 5);
    for (int i = 0; i < 10000; ++i) log.append("more and more bytes");
    CHECK(seen == "first");
}

TEST_CASE("a limit ends a view") {
    byte_log log;
    log.append("abcdef");
    CHECK(log.at(2, 4) == "cd");
    CHECK(log.at(4, 4).empty());
    CHECK(log.at(6, 100).empty());
}

TEST_CASE("released blocks free the front and keep the rest") {
    byte_log log;
    const std::string block(256 * 1024, 'x');
    log.append(block);
    log.append("tail");
    log.release_before(block.size());
    CHECK(log.start() > 0);
    CHECK(log.start() <= block.size());
    CHECK(read_all(log, block.size()) == "tail");
    log.release_before(log.size());
    CHECK(log.size() == block.size() + 4);
}
