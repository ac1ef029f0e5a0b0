#pragma once
// Rules about places of a body made ready for matching along the path from the top of a document: a tree of pointer
// segments, of which a walker holds the nodes that are still alive. Immutable once built; any thread.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "upstream/dialect/dialect.hpp"

namespace idem::cache {

/// Static text that says what is wrong with a rule's pointer; empty if nothing is. The others are refused by the
/// constructors below with std::invalid_argument.
[[nodiscard]] std::string_view pointer_fault(std::string_view pointer) noexcept;

/// Pointers as in RFC 6901 (`~0`, `~1`), in which `*` stands for any object key and is the only segment that meets
/// array elements; a leading `**` stands for any number of levels. Only object members can be ignored. Below an
/// `order_kept` value nothing is ignored: such a subtree reaches the model as it is.
class rule_set {
public:
    using node_id = std::uint16_t;
    struct verdict {
        bool ignored = false;
        bool order_kept = false;
        bool prompt_text = false;
    };

    /// For the canonical form: what is ignored, and where order is kept.
    explicit rule_set(const upstream::dialect::body_rules& rules);
    /// For a rewriter: what is taken out, and where prompt text stands.
    rule_set(std::span<const std::string> taken_out, std::span<const std::string_view> prompt_text);

    /// The nodes that are alive at the top of a document.
    void start(std::vector<node_id>& alive) const { alive.push_back(0); }
    /// What the rules say of the member `key` under nodes alive[from, to); appends the nodes alive below it.
    verdict member(std::vector<node_id>& alive, std::size_t from, std::size_t to, std::string_view key) const;
    /// The same for the elements of an array: all of them alike.
    verdict element(std::vector<node_id>& alive, std::size_t from, std::size_t to) const;
    /// True if no rule can match under alive[from, to).
    [[nodiscard]] bool idle(std::size_t from, std::size_t to) const noexcept { return from == to && !anywhere_; }
    [[nodiscard]] bool built_from(const upstream::dialect::body_rules& rules) const noexcept;

private:
    struct node {
        std::vector<std::pair<std::string, node_id>> named;
        node_id any = 0;  // child for `*`; 0: none
        verdict says;
    };
    node_id child(node_id of, std::string_view segment);
    void add(std::string_view pointer, bool verdict::* flag);
    void descend(const node& of, std::string_view key, std::vector<node_id>& alive, verdict& v) const;

    std::vector<std::string> ignored_, order_kept_;
    std::vector<node> nodes_;  // [0] the top, [1] the start of rules for any depth
    bool anywhere_ = false;
};

}  // namespace idem::cache
