#pragma once
// What a text follows from besides the request: the environment, the calls beside it, the prompts that the engine kept,
// the clock in its template and its generator. Sans-I/O, any thread.
#include "upstream/simulate/asked.hpp"
#include "upstream/simulate/script.hpp"

namespace idem::upstream::simulate {

/// To be called once for a request, before anything is written. `templated`: the engine writes the prompt from a chat
/// template.
void influence(asked& a, const simulate_options& options, const chance& luck, bool templated);

}  // namespace idem::upstream::simulate
