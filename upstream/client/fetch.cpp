#include "upstream/client/fetch.hpp"

namespace idem::upstream::client {

namespace {

struct shown_while {
    shown_while(exchange** at, exchange& call) : at_(at) {
        if (at_) *at_ = &call;
    }
    ~shown_while() {
        if (at_) *at_ = nullptr;
    }
    shown_while(const shown_while&) = delete;
    shown_while& operator=(const shown_while&) = delete;

private:
    exchange** at_;
};

}  // namespace

net::task<fetched> fetch(pool& connections, const target& to, timeouts limits, outgoing ask, std::string path,
                         std::string body, std::size_t cap, exchange** running) {
    fetched got;
    ask.target = to.join(path);
    if (!body.empty() || ask.method == "POST") {
        ask.framing = http::body_framing::length;
        ask.length = body.size();
    }
    exchange call(connections, to, limits);
    const shown_while shown(running, call);
    got.broke = co_await call.open(ask, body);
    if (got.broke) co_return got;
    got.broke = co_await call.read_head();
    if (got.broke) co_return got;
    got.status = call.head().status;
    got.headers = call.head().headers;
    got.reused = call.reused();
    for (;;) {
        std::string_view bytes;
        got.broke = co_await call.read_body(bytes);
        if (got.broke || bytes.empty()) co_return got;
        if (got.body.size() + bytes.size() > cap) {
            got.broke = {reason::upstream_malformed, "the answer is above " + std::to_string(cap) + " bytes"};
            co_return got;
        }
        got.body.append(bytes);
    }
}

}  // namespace idem::upstream::client
