#pragma once
// Numbers that follow from a seed and from nothing else, the same on every machine: SplitMix64 (Steele, Lea and Flood,
// "Fast Splittable Pseudorandom Number Generators", 2014). For shuffles and samples that can be made again; nothing
// secret may hang on them. One thread.
#include <cstdint>

namespace idem {

class sequence {
public:
    explicit constexpr sequence(std::uint64_t seed) noexcept : state_(seed) {}
    [[nodiscard]] constexpr std::uint64_t operator()() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27U) * 0x94d049bb133111ebU;
        return z ^ z >> 31U;
    }

private:
    std::uint64_t state_;
};

}  // namespace idem
