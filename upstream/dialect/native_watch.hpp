#pragma once
// What the watchers of local engines' own APIs share: how findings become a verdict, events taken one by one, and
// answers that are one JSON value. A watcher belongs to one fill; the rest is usable from any thread.
#include <cstdint>
#include <memory>
#include <string_view>

#include "upstream/dialect/dialect.hpp"
#include "upstream/dialect/object_watcher.hpp"
#include "upstream/dialect/sse.hpp"

namespace idem::upstream::dialect::native {

/// What watchers gather; why_not() and conclude() turn it into a verdict.
struct findings {
    bool malformed = false;
    bool error = false;
    bool terminal = false;    // the marker that ends an answer was seen
    bool unfinished = false;  // some choice is not
    bool empty = false;       // there is no choice
    verdict said;             // length_limited, tokens, model
    [[nodiscard]] reason why_not(bool framing_complete) const noexcept;
    [[nodiscard]] verdict conclude(bool framing_complete);
    void count(std::uint64_t input, std::uint64_t output);
};

/// A watcher of server-sent events: what each means is the derived class's.
class event_watcher : public watcher {
public:
    void feed(std::string_view bytes) final;
    verdict finish(bool framing_complete) final;
    std::uint64_t boundary() const noexcept final { return splitter_.boundary(); }
    std::optional<byte_range> usage_event() const noexcept final { return std::nullopt; }

protected:
    findings found;

private:
    /// Not called any more once found.malformed or found.error is set. `event: error` sets that by itself.
    virtual void take(const sse_event& event) = 0;
    /// Looks at everything, once, at the end.
    virtual void settle() = 0;
    void take_unless_over(const sse_event& event);
    sse_splitter splitter_;
};

/// Looks at the events of a whole stream in their order; false if `take` says so once, or the stream is cut or has a
/// line that is too long.
template <class Take>
[[nodiscard]] bool each_event(std::string_view stream, Take take) {
    sse_splitter splitter;
    for (;;) {
        sse_step step = splitter.next(stream);
        if (step == sse_step::need_more) step = splitter.finish();
        if (step == sse_step::overflow) return false;
        if (step == sse_step::need_more) return !splitter.unfinished();
        if (!take(splitter.event())) return false;
    }
}

/// Judges an answer that is one JSON value: what is missing in it goes into the findings.
using judge = void (*)(simdjson::dom::element value, const call& asked, findings& found);
[[nodiscard]] std::unique_ptr<watcher> watch_value(const call& asked, judge by);

/// Whether the value is an object with an error in it.
[[nodiscard]] bool reports_error(simdjson::dom::object object);

}  // namespace idem::upstream::dialect::native
