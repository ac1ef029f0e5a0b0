#pragma once
// What is wrong with a policy's strip_pointers. Pure; any thread.
#include <span>
#include <string>
#include <vector>

namespace idem::gateway::config {

struct pointer_problem {
    std::string message;
    bool fatal = true;  // else it works, though perhaps not as meant
};
[[nodiscard]] std::vector<pointer_problem> problems_of(std::span<const std::string> pointers);

}  // namespace idem::gateway::config
