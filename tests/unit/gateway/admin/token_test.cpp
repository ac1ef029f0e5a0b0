#include "gateway/admin/token.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace admin = idem::gateway::admin;
namespace fs = std::filesystem;

namespace {

struct folder {
    fs::path path;
    folder() {
        std::string name = (fs::temp_directory_path() / "idem-token-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~folder() { fs::remove_all(path); }
};

unsigned mode(const fs::path& p) {
    struct stat s{};
    REQUIRE(stat(p.c_str(), &s) == 0);
    return s.st_mode & 0777;
}

}  // namespace

TEST_CASE("a random token is made once, private, and kept") {
    folder f;
    const auto data = (f.path / "deep" / "data").string();
    const auto first = admin::token_in(data);
    CHECK(first.warning == "");
    CHECK(first.token.size() == 64);
    CHECK(mode(fs::path(data) / admin::token_file) == 0600);
    CHECK(admin::token_in(data).token == first.token);
    folder other;
    CHECK(admin::token_in(other.path.string()).token != first.token);
}

TEST_CASE("a token that others could have read or written is replaced") {
    folder f;
    const auto file = f.path / admin::token_file;
    const std::string planted(64, 'a');
    SUBCASE("open to the group") {
        std::ofstream(file) << planted << "\n";
        chmod(file.c_str(), 0640);
    }
    SUBCASE("a link elsewhere") {
        const auto target = f.path / "elsewhere";
        std::ofstream(target) << planted << "\n";
        chmod(target.c_str(), 0600);
        fs::create_symlink(target, file);
    }
    SUBCASE("not a token") {
        std::ofstream(file) << "secret\n";
        chmod(file.c_str(), 0600);
    }
    const auto made = admin::token_in(f.path.string());
    CHECK(made.warning == "");
    CHECK(made.token != planted);
    CHECK(made.token.size() == 64);
    CHECK(mode(file) == 0600);
    CHECK_FALSE(fs::is_symlink(file));
}

TEST_CASE("where nothing can be written there still is a token, and a warning") {
    folder f;
    std::ofstream(f.path / "file") << "x";
    const auto made = admin::token_in((f.path / "file").string());
    CHECK(made.token.size() == 64);
    CHECK(made.warning.find("set admin.token") != std::string::npos);
}
