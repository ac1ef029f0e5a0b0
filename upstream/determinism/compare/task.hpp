#pragma once
// What a prompt is after, whatever words it is said in: the task value of an answer. For reports; a task value decides
// nothing. Pure; any thread.
//
// A check is one of
//   json            the JSON that the text is, or that its first fenced block is
//   json:/POINTER   the value in it that an RFC 6901 pointer names
//   number          the last number in the text; commas between digits are left out
//   first-word      the first word, ASCII letters in lower case
//   after:MARK      what follows the last MARK, up to the end of its line
#include <string_view>

namespace idem::upstream::determinism {

[[nodiscard]] bool known_check(std::string_view check) noexcept;

/// Whether two texts have the same task value. One that has none agrees with nothing, itself included.
[[nodiscard]] bool same_task(std::string_view check, std::string_view a, std::string_view b);

}  // namespace idem::upstream::determinism
