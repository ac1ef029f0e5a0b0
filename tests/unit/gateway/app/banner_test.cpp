#include "gateway/app/banner.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace app = idem::gateway::app;
namespace config = idem::gateway::config;

TEST_CASE("the banner says where answers are kept") {
    config::configuration c;
    c.cache.embedded_path = "idem-data";
    const auto here = (std::filesystem::current_path() / "idem-data").string();
    auto b = app::storage_banner(c, idem::cache::store_stats{});
    CHECK(b.good);
    CHECK(b.text == "answers are kept in memory (256MiB) and in " + here + " (4GiB)");
    c.cache.memory = 0;
    CHECK(app::storage_banner(c, idem::cache::store_stats{}).text == "answers are kept in " + here + " (4GiB)");
    c.cache.store = config::cache::tier::redis;
    CHECK(app::storage_banner(c, idem::cache::store_stats{}).text == "answers are kept in Redis, once it answers");
    c.cache.memory = 1 << 20;
    c.cache.store = config::cache::tier::memory;
    CHECK(app::storage_banner(c, std::nullopt).text == "answers are kept in memory (1MiB) only, and lost at the end");
}

TEST_CASE("the banner says what does not work, and what does") {
    config::configuration c;
    c.cache.embedded_path = "/nowhere/../there";
    idem::cache::store_stats broken;
    broken.healthy = false;
    broken.state = "memory only: cannot make /there";
    auto b = app::storage_banner(c, broken);
    CHECK_FALSE(b.good);
    CHECK(b.text ==
          "/there does not work as a store (memory only: cannot make /there). Requests are served; answers are kept in "
          "memory (256MiB) only, and lost at the end");
    c.policies.push_back({.name = "audit", .store_required = true});
    CHECK(app::storage_banner(c, broken).text.ends_with("; under policies with store_required they get 503"));
    c.cache.memory = 0;
    CHECK(app::storage_banner(c, broken).text.find("no answer is kept") != std::string::npos);
}
