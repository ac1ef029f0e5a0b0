#include "gateway/admin/token.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "upstream/base/digest.hpp"

namespace idem::gateway::admin {

namespace {

// 256 random bits.
std::string fresh_token() {
    return to_hex(random_id().bytes) + to_hex(random_id().bytes);
}

bool well_formed(const std::string& text) {
    return digest_from_hex(text).has_value();
}

class descriptor {
public:
    explicit descriptor(int fd) : fd_(fd) {}
    ~descriptor() {
        if (fd_ >= 0) close(fd_);
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_;
};

std::optional<std::string> read_private(const std::string& path) {
    // No symbolic link: in a directory that others can write, it could make us read or trust what is theirs.
    const descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat s{};
    if (file.get() < 0 || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode)) return std::nullopt;
    if (s.st_uid != geteuid() || (s.st_mode & 077) != 0) return std::nullopt;
    char buffer[128];
    const auto n = read(file.get(), buffer, sizeof buffer);
    if (n <= 0) return std::nullopt;
    std::string text(buffer, static_cast<std::size_t>(n));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return well_formed(text) ? std::optional(text) : std::nullopt;
}

// Whole or not at all: a new file, moved into place. An error text, empty if it worked.
std::string write_private(const std::string& path, const std::string& token) {
    const std::string fresh = path + ".new";
    unlink(fresh.c_str());
    {
        const descriptor file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        const std::string line = token + "\n";
        if (file.get() < 0 || write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
            return std::strerror(errno);
        }
    }
    if (rename(fresh.c_str(), path.c_str()) != 0) return std::strerror(errno);
    return {};
}

}  // namespace

token_result token_in(const std::string& data_directory) {
    std::error_code ec;
    std::filesystem::create_directories(data_directory, ec);
    const std::string path = data_directory + "/" + token_file;
    if (auto kept = read_private(path)) return {.token = std::move(*kept)};
    token_result made{.token = fresh_token()};
    if (const auto error = write_private(path, made.token); !error.empty()) {
        made.warning = path + " cannot be written (" + error +
                       "), so nobody knows the admin token and /admin/v1 refuses everybody; set admin.token";
    }
    return made;
}

}  // namespace idem::gateway::admin
