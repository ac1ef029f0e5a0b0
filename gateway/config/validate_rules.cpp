#include "gateway/config/validate_rules.hpp"

#include <algorithm>
#include <set>

#include "gateway/config/text.hpp"

namespace idem::gateway::config::rules {

bool token_text(std::string_view text) {  // RFC 9110 section 5.6.2
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

bool plain_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.' || c == ':' || c == '/';
    });
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

std::string indexed(std::string_view list, std::size_t i) {
    return std::string(list) + "[" + std::to_string(i) + "]";
}

std::string list(const std::vector<std::string>& names) {
    std::string out;
    for (const auto& n : std::set<std::string>(names.begin(), names.end())) out += (out.empty() ? "" : ", ") + n;
    return out;
}

place validation::where(std::string path) const {
    while (!path.empty()) {
        if (const auto it = l_.said.find(path); it != l_.said.end()) return it->second;
        const auto cut = path.find_last_of(".[");
        path.resize(cut == std::string::npos ? 0 : cut);
    }
    return {file_, 0, 0};
}

void validation::error(const std::string& path, const std::string& message) {
    l_.errors.push_back({where(path), path + ": " + message});
}

void validation::warn(const std::string& path, const std::string& message) {
    l_.warnings.push_back({where(path), path + ": " + message});
}

std::string validation::shown(const std::string& path, const std::string& text) const {
    return where(path).expanded ? "the value of the variable" : "\"" + mask_url(text) + "\"";
}

void validation::readable(const std::string& path, const std::string& file) {
    if (!file.empty() && !world_.read_file(file)) error(path, "the file \"" + file + "\" cannot be read");
}

void validation::certificate_pair(const std::string& at, const std::string& certificate, const std::string& key_file) {
    if (!certificate.empty() && key_file.empty()) error(at + ".certificate", "needs " + at + ".key, its private key");
    if (certificate.empty() && !key_file.empty()) error(at + ".key", "needs " + at + ".certificate");
    readable(at + ".certificate", certificate);
    readable(at + ".key", key_file);
}

void validation::tls(const std::string& at, const upstream::client::tls_settings& t) {
    certificate_pair(at, t.certificate_file, t.key_file);
    readable(at + ".ca", t.ca_file);
}

void validation::known(const std::string& path, const std::string& what, const std::string& name,
                       const std::vector<std::string>& all) {
    if (std::find(all.begin(), all.end(), name) != all.end() || (all.empty() && what == "upstream")) return;
    const auto near = nearest(name, all);
    error(path, "there is no " + what + " \"" + name + "\"; " +
                    (near ? "did you mean " + *near + "?" : "known: " + list(all)));
}

}  // namespace idem::gateway::config::rules
