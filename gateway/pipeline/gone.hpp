#pragma once
// Watches for the client's going away while this object lives.
#include <functional>
#include <utility>

#include "gateway/http/transaction.hpp"

namespace idem::gateway::pipeline {

class gone_watch {
public:
    gone_watch(http::transaction& t, std::function<void()> gone) : t_(t) { t_.watch_gone(std::move(gone)); }
    ~gone_watch() { stop(); }
    gone_watch(const gone_watch&) = delete;
    gone_watch& operator=(const gone_watch&) = delete;
    void stop() { t_.watch_gone({}); }

private:
    http::transaction& t_;
};

}  // namespace idem::gateway::pipeline
