#pragma once
// What the parsers of all commands share. One thread, while the command line is read.
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace idem::gateway::cli {

[[nodiscard]] CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help);
/// `-o table|json`.
void add_output(CLI::App& app, std::string& output);
/// `-c FILE`.
void add_file(CLI::App& app, std::string& file);
/// "a, b, c".
[[nodiscard]] std::string listed(const std::vector<std::string_view>& words);
/// The names of all engines, as listed() has them.
[[nodiscard]] std::string engines();

}  // namespace idem::gateway::cli
