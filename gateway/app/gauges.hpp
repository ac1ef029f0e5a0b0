#pragma once
// Metrics that are read off their owners when somebody asks: tiers, connections, flights, log.
namespace idem::gateway::app {

class runtime;
/// Once, after everything has been opened. The runtime outlives its metrics' readers.
void provide_gauges(runtime& of);

}  // namespace idem::gateway::app
