#pragma once
// The command line of `idem eval`. One thread, while the command line is read.
#include <memory>

#include "gateway/cli/action.hpp"

namespace CLI {
class App;
}

namespace idem::gateway::cli {

struct eval_words;  // what options write into; lives as long as the parser
[[nodiscard]] std::shared_ptr<eval_words> add_eval(CLI::App& app, action& out);

}  // namespace idem::gateway::cli
