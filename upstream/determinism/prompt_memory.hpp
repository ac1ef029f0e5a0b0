#pragma once
// How many tokens the prompt of each request had when it was computed last. A request whose number changes was rendered
// by another template or tokenizer, or by a template that writes the date. Bounded: the oldest go. Any thread.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "upstream/base/digest.hpp"

namespace idem::upstream::determinism {

class prompt_memory {
public:
    explicit prompt_memory(std::size_t most = 65'536) : most_(most) {}
    /// Whether this is the number of last time, or the first time; remembers it.
    [[nodiscard]] bool same(const digest& request, std::uint64_t tokens);
    /// The same without remembering it.
    [[nodiscard]] bool fits(const digest& request, std::uint64_t tokens) const;

private:
    struct first_bytes {  // SHA-256 spreads by itself
        std::size_t operator()(const digest& d) const noexcept {
            std::size_t h;
            std::memcpy(&h, d.bytes.data(), sizeof h);
            return h;
        }
    };
    const std::size_t most_;
    mutable std::mutex mutex_;
    std::unordered_map<digest, std::uint64_t, first_bytes> tokens_;
    std::deque<digest> order_;  // of first sight
};

}  // namespace idem::upstream::determinism
