#pragma once
// The admin port and the optional health port: their servers, and what they show of the running gateway. Control
// thread.
#include <memory>
#include <string>
#include <vector>

#include "gateway/http/server.hpp"

namespace idem::gateway::app {

class runtime;

class admin_side {
public:
    admin_side(runtime& of, upstream::net::executor on);
    ~admin_side();
    admin_side(const admin_side&) = delete;
    admin_side& operator=(const admin_side&) = delete;
    /// An error text, empty if all is well.
    [[nodiscard]] std::string listen();
    void stop();

private:
    runtime& of_;
    upstream::net::executor on_;
    std::unique_ptr<http::handler> handler_;
    std::vector<std::unique_ptr<http::server>> servers_;
};

}  // namespace idem::gateway::app
