#pragma once
// Makes a request body keep an engine's rules (upstream/engine/request_rule.hpp), and changes nothing else of it: what
// a policy wants is written where it is absent, or spelled otherwise, and every member that says something else is
// named. The key is made of the result, and the result goes upstream. One pass over the members of the top level and of
// the few objects that rules look into.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/engine/request_rule.hpp"

namespace idem::cache {

/// What a request says that its policy cannot take.
struct conflict {
    std::string field;     // "temperature", "sampling_params.n"
    std::string value;     // as sent; long ones are shortened
    std::string expected;  // "0", "1 or absent", "absent"
};

/// What is done about one: nothing (the caller refuses), the engine gets the rule's value, or the client's value
/// stands.
enum class on_conflict : std::uint8_t { reject, override_value, allow };

/// Rules made ready. Immutable; any thread. The rules outlive it.
class enforcement {
public:
    enforcement() = default;
    /// Those of `rules` that hold under `when`, which is strict or seeded. `loose_names`: see request_form.
    enforcement(std::span<const upstream::engine::request_rule> rules, upstream::engine::request_rule::under when,
                bool loose_names);
    /// Members beside those of the rules that need no remark, as JSON pointers. Without a call of this none does.
    void know(std::span<const std::string_view> pointers);
    /// Besides, a top-level `model` that is a text becomes this one.
    void rename_model(std::string_view to);
    [[nodiscard]] bool idle() const noexcept { return top_.empty() && model_.empty(); }

private:
    friend class enforcer;
    struct member {
        std::string_view name;
        const upstream::engine::request_rule* rule = nullptr;  // null: `below` has some
        std::vector<member> below;
    };
    [[nodiscard]] bool same_name(std::string_view key, std::string_view name) const;

    std::vector<member> top_;
    std::vector<std::string> known_;  // sorted; parts joined by a point
    std::string model_;               // a JSON string; empty: as it is
    bool loose_ = false;
};

/// Reuses its memory; one a thread.
class enforcer {
public:
    struct result {
        std::optional<std::string_view> text;  // absent: nothing had to change; valid until the next call
        std::vector<conflict> conflicts;
        bool beyond_help = false;  // one of them has no value that could take its place
        bool unknown = false;      // some member is neither of the rules nor known
    };
    /// `json` is an object that the canonicaliser accepts.
    [[nodiscard]] result enforce(std::string_view json, const enforcement& by, on_conflict how);

private:
    void object(std::string_view object, const std::vector<enforcement::member>& wanted, const std::string& path);
    [[nodiscard]] bool nested(const enforcement::member& wanted, std::string_view value, const std::string& field,
                              std::optional<std::string_view>& instead);
    [[nodiscard]] bool judge(const upstream::engine::request_rule& rule, std::string_view value,
                             const std::string& field, std::optional<std::string_view>& instead);
    [[nodiscard]] bool complain(const std::string& field, std::string_view value, std::string expected,
                                bool helpless = false);
    void append_missing(const enforcement::member& wanted, std::string& out, bool& any) const;
    void replace(const char* from, const char* to, std::string_view text);
    void remark(std::string_view key, std::string_view value, const std::string& path);

    const enforcement* by_ = nullptr;
    on_conflict how_ = on_conflict::reject;
    const char* done_ = nullptr;  // what lies before it is in out_, or was taken out
    bool changed_ = false;
    std::string out_, made_;
    result found_;
};

/// `json` with the member at `pointer` (one or two object keys) set to `value`, a JSON text; other bytes stay. With
/// `only_if_absent` a value that is there and not null stays.
[[nodiscard]] std::string with_member(std::string_view json, std::string_view pointer, std::string_view value,
                                      bool only_if_absent, bool loose_names);

}  // namespace idem::cache
