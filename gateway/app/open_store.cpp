#include "gateway/app/open_store.hpp"

#include "cache/store/embedded.hpp"
#include "gateway/observe/log.hpp"

namespace idem::gateway::app {

namespace {

void say(std::string_view line) {
    observe::log(observe::level::warning, "store", line);
}

}  // namespace

std::unique_ptr<cache::store> open_second_tier(const config::cache& settings, std::string& error) {
    const cache::compression compress = settings.zstd ? cache::compression::zstd : cache::compression::none;
    if (settings.store == config::cache::tier::redis) {
        error = "cache.store: redis is not part of this build";
        return nullptr;
    }
    cache::embedded_options options;
    options.path = settings.embedded_path;
    options.size = settings.embedded_size;
    options.entry_cap = static_cast<std::size_t>(settings.entry);
    options.compress = compress;
    options.log = say;
    return cache::open_embedded(std::move(options), error);
}

}  // namespace idem::gateway::app
