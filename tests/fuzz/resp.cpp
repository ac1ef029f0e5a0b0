// Redis that answers with any bytes. The parser must see the same replies however the bytes are cut; the session must
// give every command exactly one result, its own or a fault, and close at most once.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "cache/redis/session.hpp"

namespace {

using namespace idem::cache::redis;

constexpr reply_limits limits{.bytes = 64 * 1024, .elements = 64};

struct parsed {
    std::size_t replies = 0, text = 0, elements = 0;
    fault error = fault::none;
    bool operator==(const parsed&) const = default;
};

void count(const reply& r, parsed& into) {
    into.text += r.text.size();
    into.elements += r.elements.size();
    for (const reply& e : r.elements) count(e, into);
}

parsed parse(std::string_view bytes, std::size_t step) {
    reply_parser parser(limits);
    parsed p;
    while (!bytes.empty() && parser.error() == fault::none) {
        parser.feed(bytes.substr(0, step));
        bytes.remove_prefix(std::min(step, bytes.size()));
        while (const auto r = parser.next()) {
            ++p.replies;
            count(*r, p);
        }
    }
    p.error = parser.error();
    return p;
}

// The caps are on what waits for its end, so an endless line meets them earlier in small slices; all else must be
// equal.
bool agree(const parsed& a, const parsed& b) {
    return a == b || a.error == fault::reply_too_large || b.error == fault::reply_too_large;
}

// The first byte of each step says what happens; the bytes after it are what Redis sends.
void drive(std::string_view script) {
    session_settings settings;
    settings.limits = limits;
    settings.slots = 8;
    session machine(settings, 7);
    session::time_point now{std::chrono::hours(1)};
    std::set<std::uint64_t> open, told;
    std::uint64_t token = 0;
    bool closed = false;
    const auto pump = [&] {
        for (;;) {
            const session_action a = machine.next();
            if (a.kind == action_kind::wait) return;
            if (a.kind == action_kind::close && std::exchange(closed, true)) std::abort();
            if (a.kind == action_kind::write) machine.written(now);
            if (a.kind == action_kind::deliver && (open.count(a.token) == 0 || !told.insert(a.token).second)) {
                std::abort();
            }
        }
    };
    machine.start(now);
    pump();
    machine.connected(now);
    pump();
    machine.received("+OK\r\n$1\r\n7\r\n", now);
    pump();
    if (!machine.ready()) std::abort();
    while (!script.empty()) {
        const auto step = static_cast<std::uint8_t>(script.front());
        script.remove_prefix(1);
        switch (step % 4) {
            case 0:
                if (machine.enqueue(command::get("k"), ++token, now)) open.insert(token);
                break;
            case 1:
                now += std::chrono::milliseconds(step);
                machine.tick(now);
                break;
            default: {
                const std::size_t size = std::min<std::size_t>(step, script.size());
                if (size != 0) machine.received(script.substr(0, size), now);
                script.remove_prefix(size);
            }
        }
        pump();
        if (closed != machine.closed()) std::abort();
    }
    machine.shut_down();
    pump();
    if (!closed || told != open || machine.load() != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const parsed whole = parse(bytes, std::max<std::size_t>(1, std::min(size, reply_parser::max_slice)));
    if (!agree(parse(bytes, 1), whole) || !agree(parse(bytes, 7), whole)) std::abort();
    drive(bytes);
    return 0;
}
