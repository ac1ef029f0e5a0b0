#pragma once
// What an upstream lets the pages of each origin read (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol). A
// browser hides an answer whose Access-Control fields do not suit its page; they depend on who asks, so they are stored
// with no entry: what the upstream said to an origin last is said again with every answer to it. Bounded; any thread.
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "upstream/http/fields.hpp"

namespace idem::gateway::pipeline {

class origin_memory {
public:
    explicit origin_memory(std::size_t most = 1024) : most_(most) {}
    /// Field lines, with their line ends; empty where the upstream said nothing to this origin. Null: it was never
    /// asked.
    [[nodiscard]] std::shared_ptr<const std::string> find(std::string_view origin) const;
    /// From the head of a successful answer to a request of that origin.
    void learn(std::string_view origin, const upstream::http::fields& answer);

private:
    const std::size_t most_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, std::shared_ptr<const std::string>> said_;
    std::deque<std::string> order_;  // of first meeting
};

}  // namespace idem::gateway::pipeline
