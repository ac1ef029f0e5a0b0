#pragma once
// What the files of validate.cpp share: where a setting was said, how to complain of it, and what a name looks like.
// Each file's rules are members of a class of its own that derives from `validation`; add new subjects that way.
#include <string>
#include <string_view>
#include <vector>

#include "gateway/config/loader.hpp"

namespace idem::gateway::config::rules {

[[nodiscard]] bool token_text(std::string_view text);  // RFC 9110 section 5.6.2
[[nodiscard]] bool plain_name(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);
/// "replicas[0]".
[[nodiscard]] std::string indexed(std::string_view list, std::size_t i);
/// Sorted, without doubles, with commas.
[[nodiscard]] std::string list(const std::vector<std::string>& names);

class validation {
public:
    validation(loaded& l, const std::string& file, const world& w) : l_(l), c_(l.value), file_(file), world_(w) {}

protected:
    /// The nearest enclosing path that was said; the file as a whole where nothing was.
    [[nodiscard]] place where(std::string path) const;
    void error(const std::string& path, const std::string& message);
    void warn(const std::string& path, const std::string& message);
    /// The value in quotes, or a stand-in where it came from the environment.
    [[nodiscard]] std::string shown(const std::string& path, const std::string& text) const;
    /// Complains of a name that is not in `all`, with the nearest one that is.
    void known(const std::string& path, const std::string& what, const std::string& name,
               const std::vector<std::string>& all);
    void readable(const std::string& path, const std::string& file);
    void certificate_pair(const std::string& at, const std::string& certificate, const std::string& key_file);
    void tls(const std::string& at, const upstream::client::tls_settings& t);

    loaded& l_;
    configuration& c_;
    const std::string& file_;
    const world& world_;
};

void check_upstreams(loaded& l, const std::string& file, const world& w);
void check_policies_and_routes(loaded& l, const std::string& file, const world& w);

}  // namespace idem::gateway::config::rules
