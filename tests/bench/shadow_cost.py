"""What shadow runs cost hits: runs with and without them in turn, at a steady thousand hits a second.

Every hit is sampled and the budget has room for all, so that the queue is full all the time and a run begins as soon as one has ended. The gateway
has one I/O thread; the runs, their comparing and their connections belong to the control thread. Bounds: CPU per hit of the I/O thread up by less than
5 %, median of the p99s by less than the larger of 25 % and 0.5 ms. Built and run by tests/bench/shadow.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
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


def gateway_with(engine, rate, per_minute):
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"listen": {"threads": 1, "expose": "full"}, "cache": {"store": "memory"},
                   "upstreams": [{"name": "up", "replicas": [{"id": "a", "url": engine.url}]}],
                   "policies": {"again": {"extends": "relaxed", "shadow": {"rate": rate, "per_minute": per_minute}}},
                   "routes": [{"upstream": "up", "policy": "again"}]}, file)
    gateway = idem_test.serve(config=path)
    gateway.port = gateway.ports[0]
    return gateway


def one(gateway, seconds, latency):
    measure.load(gateway.port, 64)
    before = io_seconds(gateway)
    requests = RATE * seconds
    figures = measure.load(gateway.port, requests, expect="HIT", rate=RATE)
    if figures["expected_cache"] != requests:
        raise AssertionError(f"only {figures['expected_cache']} of {requests} answers were hits")
    time.sleep(0.3 + 0.064 * latency)  # what is in the queue runs on
    return (io_seconds(gateway) - before) / requests * 1e6, figures["p99_us"]


def main(arguments):
    parser = argparse.ArgumentParser(prog="tests/bench/shadow")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--per-minute", type=int, default=RATE * 60)
    parser.add_argument("--latency", type=int, default=10)
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args(arguments)
    engine = idem_test.simulate("--latency", str(options.latency))
    subprocess.run(["taskset", "-a", "-p", "-c", str(servers.LOAD_CORE), str(engine.pid)], check=True, stdout=subprocess.DEVNULL)
    without, with_runs = gateway_with(engine, 0, 1), gateway_with(engine, 1, options.per_minute)
    cpu, p99 = {0: [], 1: []}, {0: [], 1: []}
    for number in range(options.rounds):
        for index in ((0, 1), (1, 0))[number % 2]:  # neither always comes first
            a, b = one((without, with_runs)[index], options.seconds, options.latency)
            cpu[index].append(a)
            p99[index].append(b)
    ran, left_out = (idem_test.metric(with_runs, "idem_shadow_runs_total", result=r) for r in ("verified", "skipped"))
    sampled = options.rounds * options.seconds * min(RATE, options.per_minute / 60)
    if ran + left_out < 0.9 * sampled or ran == 0:
        raise AssertionError(f"{ran} requests were run again and {left_out} left out, of {sampled}")
    median = {name: [statistics.median(of[i]) for i in (0, 1)] for name, of in (("cpu", cpu), ("p99", p99))}
    more = median["cpu"][1] / median["cpu"][0] - 1
    later = median["p99"][1] - median["p99"][0]
    print(f"{options.rounds} rounds of {options.seconds} s at {RATE} hits a second, engine of {options.latency} ms: {ran:.0f} run again, {left_out:.0f} left out as the queue was full")
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
