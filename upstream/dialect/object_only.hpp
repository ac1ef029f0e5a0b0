#pragma once
// An endpoint whose answers are plain objects: one form, and nothing to convert. `Base` says the rest. Any thread.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "upstream/dialect/object_watcher.hpp"

namespace idem::upstream::dialect {

/// Judges a parsed answer: fills in `refuse`, and what else the object says of itself.
using object_judge = void (*)(simdjson::dom::object answer, const call& c, verdict& v);

class judged_object final : public object_watcher {
public:
    judged_object(const call& c, object_judge judge) : call_(c), judge_(judge) {}
    verdict judge_body(bool framing_complete) override;

private:
    call call_;
    object_judge judge_;
};

template <class Base>
class object_only : public Base {
public:
    template <class... Words>
    explicit object_only(object_judge judge, Words&&... words) noexcept
        : Base(std::forward<Words>(words)...), judge_(judge) {}
    std::unique_ptr<watcher> watch(form, const call& c) const final {
        return std::make_unique<judged_object>(c, judge_);
    }
    std::optional<std::string> ask_usage(std::string_view) const final { return std::nullopt; }
    std::optional<std::string> assemble(std::string_view) const final { return std::nullopt; }
    std::optional<std::string> split(std::string_view, bool) const final { return std::nullopt; }

private:
    object_judge judge_;
};

}  // namespace idem::upstream::dialect
