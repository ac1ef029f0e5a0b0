#include "gateway/app/admin_side.hpp"

#include "gateway/app/runtime.hpp"

namespace idem::gateway::app {
namespace {
class interim : public http::handler {
public:
    explicit interim(runtime& of) : of_(of) {}
    bool answer_at_once(const http::request_head& head, std::string_view, const http::peer&, net::time_point,
                        http::quick_reply& out) override {
        auto text = std::make_shared<std::string>("ok\n");
        out.head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
        if (head.target == "/metrics") *text = of_.metrics().scrape(false);
        if (head.target == "/readyz" && of_.draining()) out.head = "HTTP/1.1 503 Draining\r\n";
        out.body[0] = *text;
        out.keep = text;
        return true;
    }
    void done(const http::quick_reply&, std::uint64_t, std::uint64_t, net::error_code) override {}
    net::task<void> serve(http::transaction& t) override {
        t.abort();
        co_return;
    }
    std::string refused(const http::request_head&, const http::peer&, unsigned, reason, std::string_view) override {
        return "{}";
    }
    runtime& of_;
};
}  // namespace

admin_side::admin_side(runtime& of, net::executor on) : of_(of), on_(on), handler_(std::make_unique<interim>(of)) {}
admin_side::~admin_side() = default;
std::string admin_side::listen() {
    servers_.push_back(std::make_unique<http::server>(on_, *handler_, http::server_limits{}));
    return servers_.back()->listen(of_.settings().admin.at.host, of_.settings().admin.at.port, nullptr);
}
void admin_side::stop() {
    for (auto& s : servers_) {
        s->stop_accepting();
        s->stop();
    }
}
}  // namespace idem::gateway::app
