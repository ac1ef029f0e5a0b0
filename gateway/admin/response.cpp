#include "gateway/admin/response.hpp"

#include <boost/json.hpp>

#include "upstream/http/message.hpp"

namespace idem::gateway::admin {

namespace {

std::string_view title(unsigned status) {
    switch (status) {
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 409:
            return "Conflict";
        case 413:
            return "Content Too Large";
        case 421:
            return "Misdirected Request";
        case 503:
            return "Service Unavailable";
        default:
            return "Error";
    }
}

}  // namespace

response problem(unsigned status, std::string_view detail) {
    const boost::json::object o{
        {"type", "about:blank"}, {"title", title(status)}, {"status", status}, {"detail", detail}};
    return {.status = status, .content_type = "application/problem+json", .body = boost::json::serialize(o) + "\n"};
}

std::string head_of(const response& r) {
    std::string out;
    upstream::http::append_status_line(out, r.status);
    upstream::http::append_field(out, "Content-Type", r.content_type);
    upstream::http::append_field(out, "Cache-Control", "no-store");
    upstream::http::append_field(out, "X-Content-Type-Options", "nosniff");
    for (const auto& [name, text] : r.headers) upstream::http::append_field(out, name, text);
    return out;
}

}  // namespace idem::gateway::admin
