#pragma once
// The part that all watchers of answers in object form share: it collects the bytes, and looks at them when they are
// whole. Belongs to one fill.
#include <simdjson.h>

#include <cstddef>
#include <string>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect {

class object_watcher : public watcher {
public:
    /// An answer above this is answer_malformed; the entry cap is far below.
    static constexpr std::size_t max_object = std::size_t{64} << 20;

    void feed(std::string_view bytes) final;
    verdict finish(bool framing_complete) final;
    std::uint64_t boundary() const noexcept override { return boundary_; }
    std::optional<byte_range> usage_event() const noexcept override { return std::nullopt; }

protected:
    /// The answer; an error if it is too large, malformed or followed by anything. To be called once.
    [[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> parse_value();
    /// The same for an answer that must be an object.
    [[nodiscard]] simdjson::simdjson_result<simdjson::dom::object> parse() { return parse_value().get_object(); }

private:
    [[nodiscard]] virtual verdict judge_body(bool framing_complete) = 0;

    std::string body_;
    std::uint64_t boundary_ = 0;
    bool too_large_ = false;
    bool cut_ = false;
};

}  // namespace idem::upstream::dialect
