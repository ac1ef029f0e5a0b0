#pragma once
// How to speak TLS to a server. Plain data; any thread.
#include <string>

namespace idem::upstream::net {

struct tls_settings {
    bool verify = true;
    std::string ca_file;           // PEM; empty: the system's trust store
    std::string certificate_file;  // client certificate chain, PEM, with key_file
    std::string key_file;
    std::string server_name;  // SNI and the name to verify; empty: the host
    bool operator==(const tls_settings&) const = default;
};

}  // namespace idem::upstream::net
