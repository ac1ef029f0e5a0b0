#pragma once
// A directory that lives as long as the object.
#include <filesystem>
#include <string>
#include <string_view>

namespace idem::test {

class temp_dir {
public:
    temp_dir();
    ~temp_dir();
    temp_dir(const temp_dir&) = delete;
    temp_dir& operator=(const temp_dir&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// Writes a file and returns its full name.
    std::string write(std::string_view name, std::string_view content) const;

private:
    std::filesystem::path path_;
};

}  // namespace idem::test
