"""What shadow runs cost hits: runs with and without them in turn, at a steady thousand hits a second.

The gateway runs on one I/O thread; the runs, their comparing and their connections belong to the control thread. Bounds: CPU per hit of
the I/O thread up by less than 5 %, median of the p99s by less than the larger of 25 % and 0.5 ms. Built and run by tests/bench/shadow.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

import idem_test
import measure
import servers

RATE = 1000


def io_seconds(gateway):
    """CPU of the I/O threads, by the scheduler's own account in nanoseconds."""
    total = 0
    for task in pathlib.Path(f"/proc/{gateway.pid}/task").iterdir():
        if (task / "comm").read_text().startswith("idem-io-"):
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def gateway_with(upstream, rate, per_minute):
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"listen": {"threads": 1, "expose": "full"}, "cache": {"store": "memory"},
                   "upstreams": [{"name": "up", "replicas": [{"id": "a", "url": f"http://127.0.0.1:{upstream.port}"}]}],
                   "policies": {"again": {"extends": "relaxed", "shadow": {"rate": rate, "per_minute": per_minute}}},
                   "routes": [{"upstream": "up", "policy": "again"}]}, file)
    gateway = idem_test.serve(config=path)
    gateway.port = gateway.ports[0]
    return gateway


def one(gateway, seconds):
    measure.load(gateway.port, 64)
    before = io_seconds(gateway)
    requests = RATE * seconds
    figures = measure.load(gateway.port, requests, expect="HIT", rate=RATE)
    if figures["expected_cache"] != requests:
        raise AssertionError(f"only {figures['expected_cache']} of {requests} answers were hits")
    time.sleep(0.2)
    return (io_seconds(gateway) - before) / requests * 1e6, figures["p99_us"]


def main(arguments):
    parser = argparse.ArgumentParser(prog="tests/bench/shadow")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--per-minute", type=int, default=600)
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args(arguments)
    upstream = servers.floor(servers.LOAD_CORE)
    without, with_runs = gateway_with(upstream, 0, 1), gateway_with(upstream, 1, options.per_minute)
    cpu, p99 = {0: [], 1: []}, {0: [], 1: []}
    for number in range(options.rounds):
        for index in ((0, 1), (1, 0))[number % 2]:  # neither always comes first
            a, b = one((without, with_runs)[index], options.seconds)
            cpu[index].append(a)
            p99[index].append(b)
    ran = sum(idem_test.metric(with_runs, "idem_shadow_runs_total", result=r) for r in ("verified", "variation"))
    if ran < options.rounds * options.seconds * options.per_minute / 60 / 2:
        raise AssertionError(f"only {ran} requests were run again")
    median = {name: [statistics.median(of[i]) for i in (0, 1)] for name, of in (("cpu", cpu), ("p99", p99))}
    more = median["cpu"][1] / median["cpu"][0] - 1
    later = median["p99"][1] - median["p99"][0]
    print(f"{options.rounds} rounds of {options.seconds} s at {RATE} hits a second, {options.per_minute} runs a minute, {ran:.0f} ran")
    print(f"CPU of the I/O thread: {median['cpu'][0]:.2f} us a hit without, {median['cpu'][1]:.2f} with: {more:+.1%}")
    print(f"p99: {median['p99'][0]:.0f} us without, {median['p99'][1]:.0f} with: {later:+.0f} us")
    good = more < 0.05 and later < max(0.25 * median["p99"][0], 500)
    print("within the bounds" if good else "OUT OF BOUNDS")
    return 1 if options.gate and not good else 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    finally:
        idem_test.stop_all()
    sys.exit(code)
