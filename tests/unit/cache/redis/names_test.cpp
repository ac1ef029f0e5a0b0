#include "cache/redis/names.hpp"

#include <doctest/doctest.h>

#include "cache/redis/address.hpp"
#include "cache/redis/command.hpp"
#include "cache/redis/script.hpp"

using namespace idem;
using namespace idem::cache;
using namespace idem::cache::redis;

TEST_CASE("names carry the prefix, and the digest is what a cluster hashes") {
    CHECK(entry_name("idem:", cache_key{sha256("abc")}) ==
          "idem:{ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad}:e");
    CHECK(record_name("idem:", "epoch/default") == "idem:record:{epoch/default}");
}

TEST_CASE("commands are what the server expects") {
    CHECK(command::get("k").wire() == "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    using namespace std::string_view_literals;
    CHECK(command::set_nx_get("k", "\0\r\n"sv, 1500).wire() ==
          "*7\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n\0\r\n\r\n$2\r\nNX\r\n$3\r\nGET\r\n$2\r\nPX\r\n$4\r\n1500\r\n"sv);
    CHECK(command::set_nx_get("k", "v", 0).wire() ==
          "*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\nNX\r\n$3\r\nGET\r\n");
    CHECK(command::unlink("k").wire() == "*2\r\n$6\r\nUNLINK\r\n$1\r\nk\r\n");
    const std::string_view arguments[] = {"a", ""};
    CHECK(command::evalsha("5ha", "k", arguments).wire() ==
          "*6\r\n$7\r\nEVALSHA\r\n$3\r\n5ha\r\n$1\r\n1\r\n$1\r\nk\r\n$1\r\na\r\n$0\r\n\r\n");
    CHECK(command::get("k").answers().has(reply_type::nil));
    CHECK(command::get("k").answers().has(reply_type::error));
    CHECK_FALSE(command::get("k").answers().has(reply_type::status));
}

TEST_CASE("the script's name is its SHA-1") {
    CHECK(script(put_script).sha1.size() == 40);
}

TEST_CASE("addresses") {
    std::string error;
    const auto read = [&](std::string_view url) { return parse_address(url, error).value(); };
    CHECK(read("redis://127.0.0.1").port == 6379);
    const address full = read("rediss://us%40er:p%3Aw@cache.example:6380/7");
    CHECK(full.by == address::transport::tls);
    CHECK(full.user == "us@er");
    CHECK(full.password == "p:w");
    CHECK(full.host == "cache.example");
    CHECK(full.port == 6380);
    CHECK(full.database == 7);
    CHECK(full.text() == "rediss://cache.example:6380");
    CHECK(read("redis://:secret@h").password == "secret");
    CHECK(read("redis://:secret@h").user.empty());
    CHECK(read("redis://[::1]:7000").host == "::1");
    CHECK(read("redis://[::1]").text() == "redis://[::1]:6379");
    const address local = read("unix:///run/redis/redis.sock?db=2");
    CHECK(local.path == "/run/redis/redis.sock");
    CHECK(local.database == 2);
    CHECK(local.text() == "unix:///run/redis/redis.sock");
    CHECK(read("unix://u:p@/run/r.sock").user == "u");

    for (const std::string_view broken : {"",
                                          "redis:/h",
                                          "http://h",
                                          "redis://",
                                          "redis://:6379",
                                          "redis://h:0",
                                          "redis://h:65536",
                                          "redis://h:x",
                                          "redis://h/x",
                                          "redis://h/1/2",
                                          "redis://h/-1",
                                          "redis://[::1",
                                          "redis://[::1]x",
                                          "redis://u%4:p@h",
                                          "redis://u%zz:p@h",
                                          "redis://h ost",
                                          "redis://h?db=1",
                                          "unix://",
                                          "unix://relative",
                                          "unix:///s?x=1",
                                          "unix:///s?db=",
                                          "redis://secret@"}) {
        CAPTURE(broken);
        CHECK_FALSE(parse_address(broken, error));
        CHECK_FALSE(error.empty());
        CHECK(error.find("secret") == std::string::npos);
    }
}
