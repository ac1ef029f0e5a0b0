#pragma once
// What the simulated APIs have in common behind their dress: the choices of an answer, its id, its pace and its
// failure. Sans-I/O, any thread.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/simulate/asked.hpp"
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/script.hpp"

namespace idem::upstream::simulate {

/// `n` choices for each input.
[[nodiscard]] std::vector<choice_text> write_choices(const simulate_options& options, const asked& a,
                                                     const chance& luck);
/// Always of one length, so that two answers of one request are.
[[nodiscard]] std::string hex_id(std::string_view prefix, std::uint64_t id);
/// Time for one token.
[[nodiscard]] std::chrono::nanoseconds step_of(const simulate_options& options);
/// The status that a model's name asks for, as "error-429" does; 0 for none.
[[nodiscard]] unsigned status_asked(std::string_view model);
[[nodiscard]] answer object_answer(std::string body, unsigned status = 200, std::chrono::nanoseconds wait = {});

}  // namespace idem::upstream::simulate
