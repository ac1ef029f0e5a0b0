#include "gateway/eval/asker.hpp"

#include "upstream/base/reason.hpp"

namespace idem::gateway::eval {

namespace client = upstream::client;

namespace {

double ms_since(net::time_point began) {
    return std::chrono::duration<double, std::milli>(net::clock::now() - began).count();
}

}  // namespace

class live_call {
public:
    live_call(live_calls& all, client::exchange& call) : all_(all), call_(&call) { all_.now_.insert(call_); }
    ~live_call() { all_.now_.erase(call_); }
    live_call(const live_call&) = delete;
    live_call& operator=(const live_call&) = delete;

private:
    live_calls& all_;
    client::exchange* call_;
};

net::task<told> ask(client::pool& connections, const client::target& to, client::timeouts limits,
                    const upstream::http::fields& credential, live_calls& live, std::string path, std::string body,
                    std::size_t stop_after) {
    told t;
    const net::time_point began = net::clock::now();
    client::outgoing out;
    out.method = "POST";
    out.target = to.join(path);
    out.headers = credential;
    out.headers.add("Content-Type", "application/json");
    out.headers.add("Accept-Encoding", "identity");
    out.framing = upstream::http::body_framing::length;
    out.length = body.size();
    client::exchange call(connections, to, limits);
    const live_call shown(live, call);
    client::failure broke = co_await call.open(out, body);
    if (!broke) broke = co_await call.read_head();
    t.first_byte_ms = ms_since(began);
    if (!broke) {
        t.status = call.head().status;
        t.content_type = call.head().headers.find("content-type").value_or("");
        t.cache = call.head().headers.find("x-cache").value_or("");
    }
    while (!broke) {
        std::string_view bytes;
        broke = co_await call.read_body(bytes);
        if (broke || bytes.empty()) break;
        t.body.append(bytes);
        if (t.body.size() > answer_cap) broke = {reason::upstream_malformed, {}};
        if (stop_after > 0 && t.body.size() >= stop_after) break;
    }
    t.total_ms = ms_since(began);
    if (broke) {
        t.error = to_string(broke.why);
        t.detail = std::move(broke.detail);
    }
    co_return t;
}

}  // namespace idem::gateway::eval
