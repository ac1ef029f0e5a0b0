#pragma once
// The door of the data port, one a thread: takes every request that the server hands over, answers hits from memory at
// once, and leads everything else to the flight, the store or the plain proxy.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/http/transaction.hpp"
#include "gateway/pipeline/first_tier.hpp"
#include "gateway/pipeline/follow.hpp"
#include "gateway/pipeline/prepare.hpp"
#include "gateway/pipeline/proxy.hpp"
#include "gateway/pipeline/record.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

class front final : public http::handler {
public:
    explicit front(services& at);

    bool answer_at_once(const http::request_head& head, std::string_view body, const http::peer& client,
                        net::time_point started, http::quick_reply& out) override;
    void done(const http::quick_reply& reply, std::uint64_t bytes_in, std::uint64_t bytes_out,
              net::error_code ec) override;
    net::task<void> serve(http::transaction& t) override;
    std::string refused(const http::request_head& head, const http::peer& client, unsigned status, reason why,
                        std::string_view detail) override;

private:
    struct visit;  // one request on its way through serve()
    [[nodiscard]] net::task<void> serve_proxy(visit& v, std::string_view read, bool all_read, reason why,
                                              const prepared* known = nullptr);
    [[nodiscard]] net::task<void> serve_call(visit& v, prepared& p, std::string body);
    [[nodiscard]] net::task<void> serve_stored(visit& v, const prepared& p, const held_answer& found,
                                               std::string_view tier);
    [[nodiscard]] net::task<held_answer> stored_answer(prepared& p, std::int64_t now, std::string_view& tier);
    [[nodiscard]] net::task<void> serve_flight(visit& v, prepared& p, std::string body);
    [[nodiscard]] net::task<void> serve_error(visit& v, unsigned status, reason why, std::string_view detail);

    services& at_;
    preparer preparer_;
    request_ids ids_;
    // What answer_at_once worked out for a request that it could not answer; serve() begins with it right afterwards.
    const prepared* worked_out_ = nullptr;
    const http::request_head* worked_out_for_ = nullptr;
    pending_lines pending_;
};

}  // namespace idem::gateway::pipeline
