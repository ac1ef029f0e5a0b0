#include "gateway/cli/parse_parts.hpp"

#include "gateway/config/schema.hpp"
#include "upstream/engine/profile.hpp"

namespace idem::gateway::cli {

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help) {
    auto* sub = app.add_subcommand(name, help);
    sub->set_help_flag("-h,--help", "Print this help and exit");
    return sub;
}

void add_output(CLI::App& app, std::string& output) {
    app.add_option("-o,--output", output, "table or json")->type_name("FORM")->check(CLI::IsMember({"table", "json"}));
}

void add_file(CLI::App& app, std::string& file) {
    app.add_option("-c,--config", file, "Configuration file; else ./idem.yaml, then /etc/idem/idem.yaml, if there")
        ->type_name("FILE");
}

std::string listed(const std::vector<std::string_view>& words) {
    std::string out;
    for (const auto w : words) out.append(out.empty() ? "" : ", ").append(w);
    return out;
}

std::string engines() {
    return listed(config::split(upstream::engine::names, '|'));
}

admin_flags admin_words::flags() const {
    admin_flags f;
    if (!config.empty()) f.from.file = config;
    if (!address.empty()) f.address = address;
    if (!data.empty()) f.from.settings.push_back({"data", data, "--data"});
    return f;
}

void add_data(CLI::App& app, admin_words& w) {
    add_file(app, w.config);
    app.add_option("--data", w.data, "Data directory of the gateway; else from the configuration")->type_name("DIR");
    add_output(app, w.output);
}

void add_admin(CLI::App& app, admin_words& w) {
    app.add_option("--admin", w.address, "Admin listener of the gateway; else from the configuration")
        ->type_name("A:P");
    add_data(app, w);
}

}  // namespace idem::gateway::cli
