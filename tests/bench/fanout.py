"""Follower lag through the gateway beside a bare write loop, measured by the same compiled client."""
import json
import subprocess

import idem_test
import servers

PROGRAM = servers.BUILD / "tests" / "bench_fanout"


def measured(port, upstream_port, followers):
    words = servers.pinned(servers.LOAD_CORE, [PROGRAM, "measure", port, upstream_port, followers])
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"bench_fanout failed: {done.stdout}{done.stderr}")
    figures = json.loads(done.stdout)
    if figures["different"]:
        raise AssertionError(f"followers saw different streams: {figures}")
    return figures


def best(runs):
    return min(runs, key=lambda run: run["p99_ms"])


def compare(followers):
    """p50 and p99 in ms of both, from runs that alternate; the best of three, since a busy machine only adds."""
    writer_runs, gateway_runs = [], []
    for _ in range(3):
        port, upstream_port = idem_test.free_port(), idem_test.free_port()
        servers.run_pinned(servers.SERVER_CORE, [PROGRAM, "writer", port, upstream_port, followers], [port])
        writer_runs.append(measured(port, upstream_port, followers))
        upstream_port = idem_test.free_port()
        gateway = servers.idem(upstream_port, "memory")
        gateway_runs.append(measured(gateway.port, upstream_port, followers))
        gateway.kill()
    return {"followers": followers, "writer": best(writer_runs), "gateway": best(gateway_runs)}
