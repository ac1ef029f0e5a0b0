#pragma once
// A credential of the gateway's own for an upstream: which field carries it, and where its value comes from. A file is
// read again and again, so that a rotated secret is used without a restart. Thread-safe.
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/http/fields.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::client {

struct credential_settings {
    std::string header;  // field name; empty: there is no credential of the gateway's own
    std::string prefix;  // before the value: "Bearer "
    std::string value;
    std::string file;  // in place of `value`
};

/// What a secret's file says: without white space around it. Nothing if that is empty or no field value (RFC 9110
/// section 5.5).
[[nodiscard]] std::optional<std::string_view> secret_in(std::string_view text) noexcept;

class credential {
public:
    explicit credential(credential_settings from);
    [[nodiscard]] bool own() const noexcept { return !from_.header.empty(); }
    [[nodiscard]] const std::string& header() const noexcept { return from_.header; }
    /// The field's value. Reads the file at most once a second. One that cannot be read leaves the last value in use;
    /// empty if there never was one.
    [[nodiscard]] std::string field(net::time_point now);
    /// Puts the field into a request; nothing where there is no credential of the gateway's own.
    void add_to(http::fields& request, net::time_point now);

private:
    void look();

    const credential_settings from_;
    std::mutex mutex_;
    std::string value_;
    net::time_point look_at_{};
};

}  // namespace idem::upstream::client
