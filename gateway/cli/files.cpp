#include "gateway/cli/files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace idem::gateway::cli {

std::optional<std::string> read_file(const std::string& path, std::string& error) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file && !file.bad()) return text;
    error = "cannot read " + path + (errno != 0 ? std::string(": ") + std::strerror(errno) : std::string());
    return std::nullopt;
}

}  // namespace idem::gateway::cli
