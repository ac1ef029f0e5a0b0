#include "gateway/receipts/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace idem::gateway::receipts {

namespace fs = std::filesystem;

namespace {

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string receipt_store::folder_of(const std::string& key_hex) const {
    return directory_ + "/" + key_hex.substr(0, 2) + "/" + key_hex.substr(2, 2);
}

std::string receipt_store::put(const cache::cache_key& key, const id128& fill, std::string_view text) const {
    const std::string hex = to_hex(key.value.bytes), folder = folder_of(hex);
    std::error_code ec;
    fs::create_directories(folder, ec);
    if (ec) return "cannot make " + folder + ": " + ec.message();
    const std::string path = folder + "/" + hex + "-" + to_hex(fill.bytes) + ".json", draft = path + ".new";
    const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                         ::fdatasync(file) == 0;
    std::string error = written ? "" : "cannot write " + path + ": " + std::strerror(errno);
    if (file >= 0) ::close(file);
    if (written && ::rename(draft.c_str(), path.c_str()) != 0)
        error = "cannot write " + path + ": " + std::strerror(errno);
    if (!error.empty()) ::unlink(draft.c_str());
    return error;
}

std::string receipt_store::get(const cache::cache_key& key, const id128& fill) const {
    const std::string hex = to_hex(key.value.bytes), folder = folder_of(hex);
    if (fill != id128{}) return read_file(folder + "/" + hex + "-" + to_hex(fill.bytes) + ".json");
    std::error_code ec;
    fs::path youngest;
    fs::file_time_type when{};
    for (fs::directory_iterator i(folder, ec), end; !ec && i != end; i.increment(ec)) {
        const std::string name = i->path().filename().string();
        if (!name.starts_with(hex + "-") || !name.ends_with(".json")) continue;
        std::error_code unread;
        const auto at = i->last_write_time(unread);
        if (unread || (!youngest.empty() && at <= when)) continue;
        youngest = i->path();
        when = at;
    }
    return youngest.empty() ? std::string() : read_file(youngest.string());
}

void receipt_store::sweep(std::int64_t before_unix_seconds) {
    const std::uint8_t folder = static_cast<std::uint8_t>(next_++);
    const std::string path = directory_ + "/" + to_hex(std::span(&folder, 1));
    std::error_code ec;
    for (fs::recursive_directory_iterator i(path, ec), end; !ec && i != end; i.increment(ec)) {
        struct stat info{};
        if (::stat(i->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
        if (info.st_mtim.tv_sec < before_unix_seconds) ::unlink(i->path().c_str());
    }
}

}  // namespace idem::gateway::receipts
