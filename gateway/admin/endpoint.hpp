#pragma once
// The admin and health listeners' handler: reads a request, asks the router, asks the view, answers. One object a
// listener, on the thread of its server.
#include "gateway/admin/router.hpp"
#include "gateway/admin/view.hpp"
#include "gateway/http/transaction.hpp"

namespace idem::gateway::admin {

inline constexpr std::uint64_t body_cap = 64 * 1024;

class endpoint final : public http::handler {
public:
    /// The view outlives the endpoint.
    endpoint(view& v, rules r) : view_(v), rules_(std::move(r)) {}

    [[nodiscard]] bool answer_at_once(const http::request_head& head, std::string_view body, const http::peer& client,
                                      http::net::time_point started, http::quick_reply& out) override;
    void done(const http::quick_reply& reply, std::uint64_t bytes_in, std::uint64_t bytes_out,
              http::net::error_code ec) override;
    [[nodiscard]] http::net::task<void> serve(http::transaction& t) override;
    [[nodiscard]] std::string refused(const http::request_head& head, const http::peer& client, unsigned status,
                                      reason why, std::string_view detail) override;

private:
    [[nodiscard]] http::net::task<response> answer(decision d, std::string client, std::string body);
    [[nodiscard]] http::net::task<response> purge(bool erase, std::string client, std::string body);

    view& view_;
    const rules rules_;
};

}  // namespace idem::gateway::admin
