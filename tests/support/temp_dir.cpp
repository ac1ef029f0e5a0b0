#include "tests/support/temp_dir.hpp"

#include <stdlib.h>

#include <fstream>
#include <stdexcept>

namespace idem::test {

temp_dir::temp_dir() {
    std::string name = (std::filesystem::temp_directory_path() / "idem-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
}

temp_dir::~temp_dir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string temp_dir::write(std::string_view name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
}

}  // namespace idem::test
