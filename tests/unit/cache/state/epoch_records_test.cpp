#include "cache/state/epoch_records.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>

#include "cache/state/local_coordination.hpp"

using namespace idem;
using namespace idem::cache;
namespace net = idem::upstream::net;
using status = epoch_result::status;

namespace {

id128 id_of(std::uint8_t n) {
    id128 id;
    id.bytes.fill(n);
    return id;
}

epoch_result done(net::task<epoch_result> work) {
    net::asio::io_context io(1);
    epoch_result out;
    net::asio::co_spawn(io.get_executor(), std::move(work), [&](std::exception_ptr, epoch_result r) { out = r; });
    io.run();
    return out;
}

const epoch_record first{id_of(1), sha256("e1")}, second{id_of(2), sha256("e2")}, third{id_of(3), sha256("e3")};

}  // namespace

TEST_CASE("the record of an epoch is text of one form") {
    const std::string text = encode_epoch(first);
    CHECK(text == "idem-epoch 1 01010101010101010101010101010101 " + to_hex(sha256("e1").bytes));
    CHECK(decode_epoch(text) == first);
    CHECK_FALSE(decode_epoch(text + " "));
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string broken = text;
        broken[i] = broken[i] == 'Z' ? 'Y' : 'Z';
        CHECK_FALSE(decode_epoch(broken));
        CHECK_FALSE(decode_epoch(text.substr(0, i)));
    }
}

TEST_CASE("the first proposal holds for all, and without one nothing is made") {
    local_coordination store;
    CHECK(done(current_epoch(store, "u", std::nullopt)).is == status::absent);
    CHECK(done(current_epoch(store, "u", first)).record == first);
    CHECK(done(current_epoch(store, "u", second)).record == first);
    CHECK(done(current_epoch(store, "u", std::nullopt)).record == first);
    CHECK(done(current_epoch(store, "other", second)).record == second);
}

TEST_CASE("of two gateways that open a new epoch from the same one, one does") {
    local_coordination store;
    CHECK(done(advance_epoch(store, "u", first.id, second)).is == status::absent);
    (void)done(current_epoch(store, "u", first));
    const epoch_result one = done(advance_epoch(store, "u", first.id, second));
    CHECK(one.is == status::known);
    CHECK(one.record == second);
    const epoch_result other = done(advance_epoch(store, "u", first.id, third));
    CHECK(other.is == status::passed);
    CHECK(other.record == second);
    CHECK(done(current_epoch(store, "u", first)).record == second);
    CHECK(done(advance_epoch(store, "u", first.id, second)).is == status::known);  // asked again, it is so
}

TEST_CASE("what cannot be read is left alone") {
    local_coordination store;
    REQUIRE(store.write("epoch/u", "idem-epoch 2 whatever", 0).status == record_status::ok);
    for (const auto& r : {done(current_epoch(store, "u", first)), done(advance_epoch(store, "u", first.id, second))}) {
        CHECK(r.is == status::failed);
        CHECK(r.why == reason::entry_unreadable);
    }
    CHECK(store.read("epoch/u").value == "idem-epoch 2 whatever");
}
