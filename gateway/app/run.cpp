#include "gateway/app/run.hpp"

#include "gateway/app/runtime.hpp"
#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

int run(config::snapshot configuration) {
    runtime all(std::move(configuration));
    if (const std::string error = all.open(); !error.empty()) {
        observe::log(observe::level::error, "cannot_start", error);
        return 1;
    }
    all.run();
    return 0;
}

}  // namespace idem::gateway::app
