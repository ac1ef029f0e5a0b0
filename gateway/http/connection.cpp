#include "gateway/http/connection.hpp"

namespace idem::gateway::http {

unsigned status_of(reason why) noexcept {
    switch (why) {
        case reason::unsupported_framing:
            return 501;
        case reason::header_too_large:
            return 431;
        case reason::uri_too_long:
            return 414;
        case reason::length_required:
            return 411;
        case reason::expectation_failed:
            return 417;
        case reason::request_timeout:
            return 408;
        case reason::overloaded:
            return 503;
        case reason::internal_error:
            return 500;
        case reason::client_gone:
            return 499;  // never sent: for the log
        default:
            return 400;
    }
}

}  // namespace idem::gateway::http
