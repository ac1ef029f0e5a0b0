#include "cache/request/rules.hpp"

#include <algorithm>
#include <stdexcept>

namespace idem::cache {
namespace {

constexpr std::string_view any_depth = "**/";

std::string unescape_segment(std::string_view segment) {
    std::string out;
    for (std::size_t i = 0; i < segment.size(); ++i) {
        if (segment[i] == '~' && i + 1 < segment.size() && (segment[i + 1] == '0' || segment[i + 1] == '1')) {
            out += segment[++i] == '0' ? '~' : '/';
        } else {
            out += segment[i];
        }
    }
    return out;
}

bool same(const std::vector<std::string>& a, std::span<const std::string_view> b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

std::string_view pointer_fault(std::string_view pointer) noexcept {
    if (pointer.starts_with(any_depth)) pointer.remove_prefix(any_depth.size() - 1);
    if (!pointer.starts_with('/')) return "does not begin with / or **/";
    for (std::size_t i = 0; i < pointer.size(); ++i) {
        const char next = i + 1 < pointer.size() ? pointer[i + 1] : '\0';
        if (pointer[i] == '~' && next != '0' && next != '1') return "has a ~ that is not written ~0";
    }
    if (pointer.find("/**/") != std::string_view::npos || pointer.ends_with("/**")) {
        return "has ** elsewhere than at its beginning";
    }
    return {};
}

rule_set::rule_set(const upstream::dialect::body_rules& rules)
    : ignored_(rules.ignored.begin(), rules.ignored.end()),
      order_kept_(rules.order_kept.begin(), rules.order_kept.end()),
      nodes_(2) {
    for (const std::string& pointer : ignored_) add(pointer, &verdict::ignored);
    for (const std::string& pointer : order_kept_) add(pointer, &verdict::order_kept);
}

rule_set::rule_set(std::span<const std::string> taken_out, std::span<const std::string_view> prompt_text) : nodes_(2) {
    for (const std::string& pointer : taken_out) add(pointer, &verdict::ignored);
    for (const std::string_view pointer : prompt_text) add(pointer, &verdict::prompt_text);
}

bool rule_set::built_from(const upstream::dialect::body_rules& rules) const noexcept {
    return same(ignored_, rules.ignored) && same(order_kept_, rules.order_kept);
}

rule_set::node_id rule_set::child(node_id of, std::string_view segment) {
    const auto fresh = static_cast<node_id>(nodes_.size());
    if (nodes_.size() > 60'000) throw std::length_error("too many body rules");
    if (segment == "*") {
        if (!nodes_[of].any) {
            nodes_[of].any = fresh;
            nodes_.emplace_back();
        }
        return nodes_[of].any;
    }
    const std::string name = unescape_segment(segment);
    for (const auto& [known, id] : nodes_[of].named) {
        if (known == name) return id;
    }
    nodes_[of].named.emplace_back(name, fresh);
    nodes_.emplace_back();
    return fresh;
}

void rule_set::add(std::string_view pointer, bool verdict::* flag) {
    if (const std::string_view fault = pointer_fault(pointer); !fault.empty()) {
        throw std::invalid_argument(std::string(fault));
    }
    node_id at = 0;
    if (pointer.starts_with(any_depth)) {
        at = 1;
        anywhere_ = true;
        pointer.remove_prefix(any_depth.size());
    } else {
        pointer.remove_prefix(1);
    }
    for (;;) {
        const std::size_t slash = pointer.find('/');
        at = child(at, pointer.substr(0, slash));
        if (slash == std::string_view::npos) break;
        pointer.remove_prefix(slash + 1);
    }
    nodes_[at].says.*flag = true;
}

void rule_set::descend(const node& of, std::string_view key, std::vector<node_id>& alive, verdict& v) const {
    const auto enter = [&](node_id id) {
        v.ignored |= nodes_[id].says.ignored;
        v.order_kept |= nodes_[id].says.order_kept;
        v.prompt_text |= nodes_[id].says.prompt_text;
        if (nodes_[id].any || !nodes_[id].named.empty()) alive.push_back(id);
    };
    for (const auto& [name, id] : of.named) {
        if (name == key) {
            enter(id);
            break;
        }
    }
    if (of.any) enter(of.any);
}

rule_set::verdict rule_set::member(std::vector<node_id>& alive, std::size_t from, std::size_t to,
                                   std::string_view key) const {
    verdict v;
    for (std::size_t i = from; i < to; ++i) descend(nodes_[alive[i]], key, alive, v);
    if (anywhere_) descend(nodes_[1], key, alive, v);
    return v;
}

rule_set::verdict rule_set::element(std::vector<node_id>& alive, std::size_t from, std::size_t to) const {
    verdict v;
    const auto enter = [&](node_id of) {
        const node_id id = nodes_[of].any;
        if (!id) return;
        v.order_kept |= nodes_[id].says.order_kept;
        v.prompt_text |= nodes_[id].says.prompt_text;
        if (nodes_[id].any || !nodes_[id].named.empty()) alive.push_back(id);
    };
    for (std::size_t i = from; i < to; ++i) enter(alive[i]);
    if (anywhere_) enter(1);
    return v;
}

}  // namespace idem::cache
