#pragma once
// What the parsers of all commands share. One thread, while the command line is read.
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/cli/action.hpp"

namespace idem::gateway::cli {

[[nodiscard]] CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help);
/// `-o table|json`.
void add_output(CLI::App& app, std::string& output);
/// `-c FILE`.
void add_file(CLI::App& app, std::string& file);
/// Which running gateway is meant, as it was written.
struct admin_words {
    std::string config, address, data, output = "table";

    [[nodiscard]] admin_flags flags() const;
    [[nodiscard]] form wanted() const { return output == "json" ? form::json : form::table; }
};
/// `-c`, `--data` and `-o`; and `--admin`.
void add_data(CLI::App& app, admin_words& w);
void add_admin(CLI::App& app, admin_words& w);
/// "a, b, c".
[[nodiscard]] std::string listed(const std::vector<std::string_view>& words);
/// The names of all engines, as listed() has them.
[[nodiscard]] std::string engines();

}  // namespace idem::gateway::cli
