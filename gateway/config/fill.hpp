#pragma once
// One mapping of the document into one struct, by the keys of its section. Every refusal names the key, the value and
// what was expected. Pure apart from `{file: PATH}` of secrets, which is read through the world.
#include <set>
#include <string>
#include <vector>

#include "gateway/config/loader.hpp"
#include "gateway/config/schema.hpp"

namespace idem::gateway::config {

class filler {
public:
    filler(const world& w, std::vector<problem>& errors, places& said) : world_(w), errors_(errors), said_(said) {}

    /// `path` is where `mapping` stands, e.g. "upstreams[0]"; empty at the top. Members of kind `named` are left alone.
    void fill(const node& mapping, const section& s, void* into, const std::string& path);

private:
    void walk(const node& mapping, const section& s, void* into, const std::string& path, const std::string& prefix,
              std::set<std::string_view>& seen);
    void one(const node& n, const key& k, void* into, const std::string& path);
    void unknown(const node& n, const section& s, const std::string& path, const std::string& prefix);
    void refuse(const node& n, const key& k, const std::string& path);
    [[nodiscard]] std::optional<value> parse(const node& n, const key& k, const std::string& path);
    [[nodiscard]] std::optional<value> parse_scalar(const node& n, const key& k) const;
    [[nodiscard]] std::optional<value> parse_list(const node& n, const key& k) const;

    const world& world_;
    std::vector<problem>& errors_;
    places& said_;
};

}  // namespace idem::gateway::config
