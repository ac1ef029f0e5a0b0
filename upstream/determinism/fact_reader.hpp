#pragma once
// Facts out of the JSON that an engine's endpoint answers with. Hostile input: any bytes. Pure; any thread.
#include <span>
#include <string_view>

#include "upstream/determinism/environment.hpp"
#include "upstream/engine/probes.hpp"

namespace idem::upstream::determinism {

/// Adds what `body` tells, as reported. Text stays as it is, up to 256 bytes; other values are their JSON. What is not
/// there, null or longer is left out, and what is hashed is the SHA-256 of its JSON.
void read_facts(environment& into, std::string_view body, std::span<const engine::fact_source> wanted);

/// The first model that GET /v1/models lists; empty where it lists none.
[[nodiscard]] std::string first_model(std::string_view body);

}  // namespace idem::upstream::determinism
