#include "gateway/http/session_impl.hpp"

namespace idem::gateway::http {

template class session<tls_stream>;

net::task<void> run_session(tls_stream stream, peer client, std::shared_ptr<server_state> server) {
    return start(std::move(stream), std::move(client), std::move(server));
}

}  // namespace idem::gateway::http
