#pragma once
// What the simulator shows of the engine that it plays: in pages of its own, and in the answers to calls. Sans-I/O, any
// thread.
#include <optional>
#include <string>
#include <string_view>

#include "upstream/simulate/engine/player.hpp"
#include "upstream/simulate/render.hpp"
#include "upstream/simulate/script.hpp"

namespace idem::upstream::simulate {

/// Null for what is no page of the engine beside its models.
[[nodiscard]] const engine::page* page_of(const simulate_options& options, std::string_view method,
                                          std::string_view target) noexcept;
/// A page of the engine, or its list of models; nullopt for what is neither.
[[nodiscard]] std::optional<answer> page_answer(const simulate_options& options, std::string_view method,
                                                std::string_view target, const chance& luck);
/// Writes the environment into what an answer says about itself.
void show_environment(answer_facts& facts, const simulate_options& options, const chance& luck);
/// SGLang's; empty for other engines.
[[nodiscard]] std::string weight_version(const simulate_options& options, const chance& luck);

}  // namespace idem::upstream::simulate
