#include <utility>

#include "upstream/http/body_decoder.hpp"
#include "upstream/http/framing.hpp"
#include "upstream/http/head_grammar.hpp"
#include "upstream/http/head_scan.hpp"
#include "upstream/http/message.hpp"

namespace idem::upstream::http {
namespace {

/// What an idle connection may keep of a large head.
constexpr std::size_t kept_head_bytes = 4 * 1024;

parsed failed(reason why, std::string_view detail) noexcept {
    return {parse_event::error, 0, {}, why, detail};
}

/// The two phases of a message, the same in both directions. A failure is remembered: the parser stays in it.
struct message_state {
    explicit message_state(parse_limits l, bool request) : limits(l), scan(request) {}

    parse_limits limits;
    head_scan scan;
    body_decoder body;
    bool head_done = false;
    verdict failure;

    /// True if the head is complete in `in`; otherwise `out` says what to do.
    [[nodiscard]] bool head_is_there(std::string_view in, reason scan_reason, parsed& out) {
        if (failure) {
            out = failed(failure.why, failure.detail);
            return false;
        }
        switch (scan.feed(in, limits)) {
            case head_scan::state::found:
                return true;
            case head_scan::state::more:
                out = {};
                return false;
            case head_scan::state::bad:
                break;
        }
        failure = {scan_reason == reason::none ? scan.why() : scan_reason, scan.detail()};
        out = failed(failure.why, failure.detail);
        return false;
    }
    [[nodiscard]] std::string_view head_bytes(std::string_view in) const noexcept {
        return in.substr(scan.begin(), scan.end() - scan.begin());
    }
    [[nodiscard]] parsed refuse(verdict v) noexcept {
        failure = v;
        return failed(v.why, v.detail);
    }
    [[nodiscard]] parsed head_event(body_framing framing, std::uint64_t length) noexcept {
        head_done = true;
        body.start(framing, length);
        return {parse_event::head, scan.end(), {}, reason::none, {}};
    }
    void reset() noexcept {
        scan.reset();
        head_done = false;
        failure = {};
    }
};

}  // namespace

struct request_parser::impl {
    explicit impl(parse_limits l) : message(l, true) {}
    message_state message;
    request_head head;
};

request_parser::request_parser(parse_limits limits) : impl_(std::make_unique<impl>(limits)) {}
request_parser::~request_parser() = default;
request_parser::request_parser(request_parser&&) noexcept = default;
request_parser& request_parser::operator=(request_parser&&) noexcept = default;

parsed request_parser::next(std::string_view in) {
    message_state& m = impl_->message;
    if (m.head_done) return m.body.next(in, m.limits, reason::bad_request);
    parsed out;
    if (!m.head_is_there(in, reason::none, out)) return out;
    head_facts facts;
    request_head& head = impl_->head;
    if (const verdict v = parse_head(m.head_bytes(in), head, facts)) return m.refuse(v);
    if (const verdict v = frame_request(facts, m.limits, head)) return m.refuse(v);
    return m.head_event(head.framing, head.length);
}

const request_head& request_parser::head() const noexcept {
    return impl_->head;
}

bool request_parser::complete() const noexcept {
    return impl_->message.head_done && impl_->message.body.complete();
}

void request_parser::reset() {
    impl_->message.reset();
    impl_->head.clear();
    impl_->head.headers.release_above(kept_head_bytes);
    if (impl_->head.target.capacity() > kept_head_bytes) std::string().swap(impl_->head.target);
}

struct response_parser::impl {
    explicit impl(parse_limits l) : message(l, false) {}
    message_state message;
    response_head head;
    bool head_only = false;
};

response_parser::response_parser(parse_limits limits) : impl_(std::make_unique<impl>(limits)) {}
response_parser::~response_parser() = default;
response_parser::response_parser(response_parser&&) noexcept = default;
response_parser& response_parser::operator=(response_parser&&) noexcept = default;

parsed response_parser::next(std::string_view in) {
    message_state& m = impl_->message;
    if (m.head_done) return m.body.next(in, m.limits, reason::upstream_malformed);
    parsed out;
    if (!m.head_is_there(in, reason::upstream_malformed, out)) return out;
    head_facts facts;
    response_head& head = impl_->head;
    if (const verdict v = parse_head(m.head_bytes(in), head, facts)) return m.refuse(v);
    if (const verdict v = frame_response(facts, impl_->head_only, head)) return m.refuse(v);
    return m.head_event(head.framing, head.length);
}

parsed response_parser::finish() {
    message_state& m = impl_->message;
    if (m.failure) return failed(m.failure.why, m.failure.detail);
    if (m.head_done && m.body.complete()) return {parse_event::complete, 0, {}, reason::none, {}};
    if (m.head_done && impl_->head.framing == body_framing::close_delimited) {
        m.body.start(body_framing::none, 0);
        return {parse_event::complete, 0, {}, reason::none, {}};
    }
    return m.refuse({reason::framing_incomplete, "the connection ended before the message did"});
}

const response_head& response_parser::head() const noexcept {
    return impl_->head;
}

bool response_parser::complete() const noexcept {
    return impl_->message.head_done && impl_->message.body.complete();
}

void response_parser::reset(bool head_only) {
    impl_->message.reset();
    impl_->head.clear();
    impl_->head.headers.release_above(kept_head_bytes);
    impl_->head_only = head_only;
}

}  // namespace idem::upstream::http
