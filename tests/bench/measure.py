"""One measured row: a load against a port, and the CPU that the server's processes used meanwhile."""
import json
import os
import statistics
import subprocess
import time

import servers

SEED = [os.getpid()]


def load(port, requests, mode="same", connections=32, stream=False, expect="", rate=0):
    """The load generator's own figures."""
    SEED[0] += 1  # misses of one round are not hits of the next
    seed = 1 if mode in ("same", "spellings") else SEED[0]
    words = [servers.BUILD / "tests" / "bench_load", port, "--requests", requests, "--mode", mode, "--connections", connections, "--seed", seed]
    if stream:
        words.append("--stream")
    if rate:
        words += ["--rate", rate]
    if expect:
        words += ["--expect", expect]
    done = subprocess.run(servers.pinned(servers.LOAD_CORE, words), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"bench_load failed: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def settled(processes):
    """CPU seconds once the processes have finished what the load left them to do."""
    before = servers.cpu_seconds(processes)
    for _ in range(50):
        time.sleep(0.1)
        now = servers.cpu_seconds(processes)
        if now - before < 0.011:
            return now
        before = now
    return before


class Row:
    def __init__(self, name, processes, port, requests, mode="same", expect=""):
        self.name, self.processes, self.port = name, processes, port
        self.requests, self.mode, self.expect = requests, mode, expect
        self.cpu_us, self.rps, self.p50, self.p99 = [], [], [], []

    def run(self, scale):
        requests = max(64, int(self.requests * scale))
        hits = self.expect == "HIT"
        if hits:
            load(self.port, 64, "same")  # fills the cache
        load(self.port, 1000, self.mode)  # warms code and connections
        before = settled(self.processes)
        figures = load(self.port, requests, self.mode, expect=self.expect)
        after = settled(self.processes)
        if figures["expected_cache"] != requests:
            raise AssertionError(f"{self.name}: only {figures['expected_cache']} of {requests} answers were {self.expect}")
        self.cpu_us.append((after - before) / requests * 1e6)
        self.rps.append(figures["rps"])
        self.p50.append(figures["p50_us"])
        self.p99.append(figures["p99_us"])

    def medians(self):
        return {"cpu_us": statistics.median(self.cpu_us), "rps": statistics.median(self.rps), "p50_us": statistics.median(self.p50),
                "p99_us": statistics.median(self.p99), "rounds": len(self.cpu_us)}
