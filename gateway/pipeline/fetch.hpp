#pragma once
// A small question to a replica itself: what it is, what it does. Not a client's call: it takes no slot, counts in no
// metric and says nothing about the replica's health.
#include <string>

#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

struct fetched {
    unsigned status = 0;  // 0: `failed`
    std::string body;     // up to 1 MiB; a longer one is a failure
    upstream::client::failure failed;
};
/// GET of a path of the server itself, also where the replica's URL ends in /v1. With the upstream's own credential,
/// where it has one. All references outlive the call.
[[nodiscard]] net::task<fetched> fetch(upstream::client::pool& connections, upstream::client::credential& own,
                                       const config::replica& at, std::string path, net::duration within);

}  // namespace idem::gateway::pipeline
