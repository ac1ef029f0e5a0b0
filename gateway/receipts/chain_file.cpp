#include "gateway/receipts/chain_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "upstream/base/digest.hpp"

namespace idem::gateway::receipts {

namespace json = boost::json;

namespace {

constexpr int most_files = 100'000;

std::string begin_body(std::int64_t unix_ms, const chain_end& before) {
    json::object o{{"type", "begin"}, {"chain", to_hex(random_id().bytes)}, {"time", unix_ms}};
    if (before.n > 0)
        o["after"] = json::object{{"chain", before.chain}, {"lines", before.n}, {"last", to_hex(before.last.bytes)}};
    return json::serialize(o);
}

std::string resumed_body(std::int64_t unix_ms, std::string_view torn) {
    return json::serialize(json::object{{"type", "resumed"},
                                        {"time", unix_ms},
                                        {"torn_bytes", torn.size()},
                                        {"torn_sha256", to_hex(sha256(torn).bytes)}});
}

}  // namespace

chain_file::~chain_file() {
    close();
}

void chain_file::close() noexcept {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
}

std::string chain_file::open(const std::string& directory, std::int64_t unix_ms, std::vector<std::string>& said) {
    for (int i = 1; i <= most_files; ++i) {
        const std::string path = directory + "/chain" + (i == 1 ? "" : "-" + std::to_string(i)) + ".jsonl";
        switch (try_open(path, unix_ms, said)) {
            case found::good:
                path_ = path;
                return {};
            case found::failed:
                return path + ": " + trouble_;
            case found::damaged:
                said.push_back(path + " is damaged (" + trouble_ + "): it is left as it is, and another chain begun");
                break;
            case found::locked:
            case found::full:
                break;
        }
        close();
    }
    return directory + ": every chain there is damaged or in use";
}

std::string chain_file::roll(const std::string& directory, std::int64_t unix_ms, std::vector<std::string>& said) {
    before_ = end_;
    close();
    return open(directory, unix_ms, said);
}

chain_file::found chain_file::try_open(const std::string& path, std::int64_t unix_ms, std::vector<std::string>& said) {
    end_ = {};
    size_ = 0;
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file_ < 0) {
        trouble_ = std::strerror(errno);
        return found::failed;
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) return found::locked;
    struct stat info{};
    if (::fstat(file_, &info) == 0 && static_cast<std::uint64_t>(info.st_size) >= most_bytes) return found::full;
    chain_reader reader;
    std::string rest;
    std::vector<char> buffer(std::size_t{1} << 20);
    for (;;) {
        const ssize_t n = ::read(file_, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            trouble_ = std::strerror(errno);
            return found::failed;
        }
        if (n == 0) break;
        rest.append(buffer.data(), static_cast<std::size_t>(n));
        std::size_t from = 0;
        for (auto to = rest.find('\n'); to != std::string::npos; to = rest.find('\n', from)) {
            if (!reader.take(std::string_view(rest).substr(from, to - from))) {
                trouble_ = reader.error();
                return found::damaged;
            }
            size_ += to - from + 1;
            from = to + 1;
        }
        rest.erase(0, from);
        if (rest.size() > longest_line) {
            trouble_ = "it holds a line that is too long";
            return found::damaged;
        }
    }
    end_ = reader.end();
    if (!rest.empty()) {
        said.push_back(path + ": the last line was not finished (" + std::to_string(rest.size()) +
                       " bytes); it is cut off, and the chain says so");
        if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) {
            trouble_ = std::strerror(errno);
            return found::failed;
        }
    }
    bool begun = true;
    if (end_.n == 0) {
        const std::string body = begin_body(unix_ms, before_);
        begun = append({body});
        end_.chain = std::string(json::parse(body).at("chain").as_string());
    } else if (reader.type() != "closed") {
        if (rest.empty()) said.push_back(path + ": the process that wrote it last did not close it");
        begun = append({resumed_body(unix_ms, rest)});
    }
    return begun ? found::good : found::failed;
}

bool chain_file::write_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(file_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return ::fdatasync(file_) == 0;
}

bool chain_file::append(const std::vector<std::string>& bodies) {
    if (file_ < 0) return false;
    chain_end end = end_;
    std::string text;
    for (const std::string& body : bodies) text += next_line(end, body) + "\n";
    if (!write_all(text)) {
        trouble_ = std::strerror(errno);
        // What is there of it must not be continued.
        if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) close();
        return false;
    }
    size_ += text.size();
    end_ = std::move(end);
    return true;
}

}  // namespace idem::gateway::receipts
