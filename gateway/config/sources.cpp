#include "gateway/config/sources.hpp"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "gateway/config/text.hpp"

namespace idem::gateway::config {

namespace {

constexpr std::size_t file_cap = 1 << 20;  // of a configuration, a key, a certificate

std::optional<std::string> read_file(const std::string& path) {
    std::error_code ec;
    if (std::filesystem::is_directory(path, ec)) return std::nullopt;
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::string text(file_cap + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return std::nullopt;
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

std::string why_unreadable(const std::string& path) {
    std::error_code ec;
    if (std::filesystem::is_directory(path, ec)) return "is a directory; expected a file";
    if (!std::filesystem::exists(path, ec) && !ec) return "there is no such file";
    return ec ? "cannot be read: " + ec.message() : "cannot be read";
}

outcome_of_load unreadable(outcome_of_load of) {
    of.result.errors.push_back({{of.file, 0, 0}, why_unreadable(of.file)});
    of.unread = true;
    return of;
}

std::optional<std::string> variable(const std::string& name) {
    const char* text = std::getenv(name.c_str());
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

std::vector<std::pair<std::string, std::string>> variables() {
    std::vector<std::pair<std::string, std::string>> out;
    for (char** v = environ; *v != nullptr; ++v) {
        const std::string_view text(*v);
        const auto equals = text.find('=');
        if (equals != std::string_view::npos) out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return out;
}

}  // namespace

std::uint64_t memory_limit() {
    struct sysinfo machine{};
    std::uint64_t limit = sysinfo(&machine) == 0 ? std::uint64_t{machine.totalram} * machine.mem_unit : 1ull << 30;
    std::ifstream groups("/proc/self/cgroup");
    std::string line;
    while (std::getline(groups, line)) {
        if (!line.starts_with("0::")) continue;
        for (std::filesystem::path group = line.substr(3);; group = group.parent_path()) {
            std::ifstream max("/sys/fs/cgroup" + group.string() + "/memory.max");
            std::string text;
            if (max >> text) {
                if (const auto bytes = parse_integer(text)) limit = std::min(limit, *bytes);
            }
            if (group == group.parent_path()) break;
        }
    }
    return limit;
}

outcome_of_load load_from(const sources& s) {
    outcome_of_load out;
    input in;
    const auto chosen = s.file ? s.file : variable("IDEM_CONFIG");
    std::optional<std::string> text;
    if (chosen) {
        out.file = *chosen;
        text = *chosen == "-" ? std::optional(std::string(std::istreambuf_iterator<char>(std::cin), {}))
                              : read_file(*chosen);
        if (!text) {
            return unreadable(std::move(out));
        }
    } else {
        for (const auto* candidate : {"idem.yaml", "/etc/idem/idem.yaml"}) {
            std::error_code ec;
            if (!std::filesystem::exists(candidate, ec)) continue;
            out.file = candidate;
            text = read_file(candidate);
            if (!text) {
                return unreadable(std::move(out));
            }
            break;
        }
    }
    if (text && text->size() > file_cap) {
        out.result.errors.push_back({{out.file, 0, 0}, "is larger than 1 MiB"});
        return out;
    }
    in.text = text.value_or("");
    in.name = out.file.empty() ? "configuration" : out.file;

    const auto engine = s.engine ? s.engine : variable("IDEM_ENGINE");
    if (s.upstream) {
        in.upstream = shortcut{.url = *s.upstream, .engine = engine.value_or("")};
    } else if (const auto url = variable("IDEM_UPSTREAM")) {
        in.upstream = shortcut{.url = *url, .engine = engine.value_or(""), .label = "IDEM_UPSTREAM"};
    }
    std::vector<problem> warnings;
    in.settings = settings_from_environment(variables(), warnings);
    if (!in.upstream && engine) {
        in.settings.push_back({"upstreams.0.engine", *engine, s.engine ? "--engine" : "IDEM_ENGINE"});
    }
    in.settings.insert(in.settings.end(), s.settings.begin(), s.settings.end());
    const world w{.environment = variable, .read_file = read_file, .memory_limit = memory_limit()};
    out.result = load(in, w);
    out.result.warnings.insert(out.result.warnings.begin(), warnings.begin(), warnings.end());
    return out;
}

}  // namespace idem::gateway::config
