#include "gateway/cli/version.hpp"

#include "cache/request/key.hpp"

namespace idem::gateway::cli {

std::string_view version() noexcept {
    return IDEM_VERSION;
}

std::string version_text(bool json) {
    const std::string compiler = __VERSION__;
    if (json) {
        return std::string(R"({"version":")") + IDEM_VERSION + R"(","key_version":")" +
               std::string(cache::key_version) + R"(","compiler":")" + compiler + "\"}\n";
    }
    return std::string("idem ") + IDEM_VERSION + " (key version " + std::string(cache::key_version) + ", " + compiler +
           ")\n";
}

}  // namespace idem::gateway::cli
