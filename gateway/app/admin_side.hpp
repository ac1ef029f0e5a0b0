#pragma once
// The admin port and the optional health port. Control thread.
#include <memory>
#include <string>
#include <vector>

#include "gateway/admin/endpoint.hpp"
#include "gateway/app/admin_view.hpp"
#include "gateway/config/config.hpp"
#include "gateway/http/server.hpp"

namespace idem::gateway::app {

class admin_side {
public:
    admin_side(runtime& of, upstream::net::executor on) : of_(of), on_(on), view_(of) {}
    admin_side(const admin_side&) = delete;
    admin_side& operator=(const admin_side&) = delete;
    /// An error text, empty if all is well.
    [[nodiscard]] std::string listen();
    /// Closes everything, also what is being answered.
    void stop();

private:
    [[nodiscard]] std::string add(const config::address& at, admin::rules rules, std::string_view what);

    runtime& of_;
    upstream::net::executor on_;
    admin_view view_;
    struct port {
        std::unique_ptr<admin::endpoint> handler;
        std::unique_ptr<http::server> server;
    };
    std::vector<port> ports_;
};

}  // namespace idem::gateway::app
