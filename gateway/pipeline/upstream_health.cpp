#include "gateway/config/credential.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {
namespace {

upstream::route::health_limits limits_of(const config::upstream_pool& u) {
    return {.connect_failures = u.eject_after_connects,
            .failures = u.eject_after,
            .first_ejection = u.eject_first,
            .longest_ejection = u.eject_longest,
            .most_ejected = u.eject_percent / 100.0};
}

}  // namespace

upstream_health::upstream_health(const upstream_plan& of)
    : replicas(of.candidates.size(), limits_of(*of.settings)),
      slots(of.candidates.size(), of.concurrency.slots),
      roster(of.candidates.size(), of.watched),
      retries({.share = of.settings->retries_percent / 100.0}),
      credential(config::credential_of(*of.settings)) {}

}  // namespace idem::gateway::pipeline
