#pragma once
// The admin token where none is configured: a random one in DATA/admin-token, readable by its owner only, kept over
// restarts so that scripts and the command line go on working. Blocks on files; at start only.
#include <string>

namespace idem::gateway::admin {

inline constexpr const char* token_file = "admin-token";

struct token_result {
    std::string token;    // usable even if it could not be written
    std::string warning;  // why nobody can read it from the file; empty if all is well
};

/// Takes the token from the file if that is a regular file of this user that nobody else may read, else makes a new
/// one.
[[nodiscard]] token_result token_in(const std::string& data_directory);

}  // namespace idem::gateway::admin
