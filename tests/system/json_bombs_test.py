#!/usr/bin/env python3
"""No request costs more than 100 times its own bytes in memory, or 100 times the client's CPU: JSON bombs, plain, compressed, several at
once, under a policy that changes bodies, and in `idem key`."""
# runner: alone
import gzip
import http.client
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test

BAR = 100
FLOOR = 1 << 20  # bytes that the process may take for reasons of its own: a connection's buffers, an arena
# Least of a client's CPU: a tick of /proc, and 10 ns a byte, since the bombs below cost less to make than any JSON that says something.
LEAST_CPU, LEAST_CPU_A_BYTE = 0.01, 1e-8
MOST_OF_A_BODY = 64 << 20
TICK = os.sysconf("SC_CLK_TCK")
TIDY = {"nfc": True, "collapse_whitespace": True, "trim": True, "strip_pointers": ["/x/y", "/messages/*/name", "**/z"]}
ANSWER = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                     "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]}).encode()


def chat(text):
    return '{"model":"m","messages":[{"role":"user","content":"' + text + '"}]}'


def members(pairs):
    return '{"model":"m","messages":[],"x":{' + ",".join(pairs) + "}}"


def shuffled(count):
    order = list(range(count))
    random.Random(1).shuffle(order)
    return order


BOMBS = {
    "100,000 levels of lists": lambda: '{"model":"m","x":' + "[" * 100_000 + "]" * 100_000 + "}",
    "100,000 levels of objects": lambda: '{"model":"m","x":' + '{"a":' * 100_000 + "1" + "}" * 100_001,
    "a million keys": lambda: members(f'"{n:07}":1' for n in range(1_000_000)),
    "a million keys in disorder": lambda: members(f'"{n}":1' for n in shuffled(1_000_000)),
    "a million equal keys": lambda: members('"a":1' for _ in range(1_000_000)),
    "a million objects in disorder": lambda: '{"model":"m","x":[' + ",".join(['{"b":0,"a":0}'] * 1_000_000) + "]}",
    "an integer of 10 MB": lambda: '{"model":"m","x":' + "9" * 10_000_000 + "}",
    "a fraction of 10 MB": lambda: '{"model":"m","x":0.' + "9" * 10_000_000 + "}",
    "a million numbers that grow": lambda: '{"model":"m","x":[' + ",".join(["1e15"] * 1_000_000) + "]}",
    "5 MB of \\u0000": lambda: chat("\\u0000" * 873_813),
    "a key of 5 MB of \\u0000": lambda: '{"model":"m","x":{"' + "\\u0000" * 873_813 + '":1}}',
}
# For what a policy does to prompt text and members.
CHANGED = {
    "5 MB of spaces": lambda: chat(" " * 5_000_000),
    "5 MB of marks in disorder": lambda: chat(("a" + "\u0301\u0323" * 15) * 80_000),
    "5 MB of marks in one run": lambda: chat("\u0301\u0323" * 1_250_000),
    "5 MB of what decomposes": lambda: chat("\U0001d160" * 1_250_000),
    "5 MB of escaped marks": lambda: chat("\\u0301\\u0323" * 400_000),
    "a million members to take out": lambda: '{"model":"m","x":[' + ",".join(['{"z":0}'] * 1_000_000) + "]}",
    "a million names to take out": lambda: '{"model":"m","messages":[' + ",".join(['{"name":0}'] * 1_000_000) + "]}",
}


class Drain:
    """An upstream that reads whatever comes and gives one answer."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    @staticmethod
    def _serve(connection):
        with connection, connection.makefile("rb") as stream:
            while line := stream.readline():
                left = 0
                while line not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    left = int(value) if name.lower() == b"content-length" else left
                    line = stream.readline()
                while left > 0:
                    left -= len(stream.read(min(left, 1 << 20)) or b" " * left)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(ANSWER), ANSWER))


def status_kib(process, name):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise AssertionError(name)


def cpu(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def post(gateway, body, headers):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.ports[0], timeout=120)
    try:
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def gateway_of(policy):
    file = pathlib.Path(idem_test.scratch()) / "idem.yaml"
    file.write_text(json.dumps({"upstreams": [{"name": "u", "replicas": [{"url": Drain().url}]}], "policies": {"own": policy}, "cache": {"store": "memory"},
                                "listen": {"body": MOST_OF_A_BODY}, "routes": [{"upstream": "u", "policy": "own"}]}))
    gateway = idem_test.serve(config=file)
    assert post(gateway, chat("warm").encode(), {}) == 200
    return gateway


def cost(make, policy, at_once=1, headers=None, squeeze=None):
    """(bytes sent, peak memory that they cost, gateway's CPU, client's CPU) on a gateway that has seen nothing like it."""
    gateway = gateway_of(policy)
    began = time.thread_time()
    body = make().encode()
    if squeeze:
        body = squeeze(body)
    spent, statuses = [time.thread_time() - began], []

    def send():
        start = time.thread_time()
        statuses.append(post(gateway, body, headers or {}))
        spent.append(time.thread_time() - start)

    pathlib.Path(f"/proc/{gateway.pid}/clear_refs").write_text("5")  # from here on VmHWM is a new peak
    before, cpu_before = status_kib(gateway, "VmRSS"), cpu(gateway)
    threads = [threading.Thread(target=send) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    peak, used = (status_kib(gateway, "VmHWM") - before) * 1024, cpu(gateway) - cpu_before
    assert gateway.alive() and len(statuses) == at_once and set(statuses) == {200}, statuses
    assert post(gateway, chat("after").encode(), {}) == 200, "and it goes on"
    gateway.kill()
    return len(body) * at_once, peak, used, at_once * spent[0] + sum(spent[1:])


def judge(name, sent, peak, used, client):
    client = max(client, LEAST_CPU, sent * LEAST_CPU_A_BYTE)
    print(f"    {name:34}{sent / 1e6:7.2f} MB sent{peak / sent:8.1f} x memory{used:7.2f} s CPU{used / client:7.1f} x client's", flush=True)
    assert peak <= BAR * sent + FLOOR, f"{name}: {peak} bytes for {sent}"
    assert used <= BAR * client, f"{name}: {used} s for {client}"


def test_one_of_each():
    for name, make in BOMBS.items():
        judge(name, *cost(make, {}))


def test_four_at_once():
    for name, make in BOMBS.items():
        judge(name, *cost(make, {}, at_once=4))


def test_under_a_policy_that_changes_bodies():
    for name, make in {**BOMBS, **CHANGED}.items():
        judge(name, *cost(make, TIDY))


def test_compressed():
    for name, make in BOMBS.items():
        judge(name, *cost(make, {}, headers={"Content-Encoding": "gzip"}, squeeze=lambda body: gzip.compress(body, 6)))


# A child's peak begins with its parent's memory, which here holds the bombs: a small process starts it.
STARTER = """import os, sys
null = [(os.POSIX_SPAWN_OPEN, n, "/dev/null", os.O_WRONLY, 0) for n in (1, 2)]
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=null)
_, _, used = os.wait4(pid, 0)
print(used.ru_maxrss * 1024, used.ru_utime + used.ru_stime)
"""


def key_cost(file, *words):
    """(peak memory, CPU) of `idem key`."""
    command = [sys.executable, "-c", STARTER, idem_test.BINARY, "key", *words, file]
    said = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout.split()
    return int(said[0]), float(said[1])


def test_idem_key():
    folder = pathlib.Path(idem_test.scratch())
    configured = folder / "idem.yaml"
    configured.write_text(json.dumps({"upstreams": [{"name": "u", "replicas": [{"url": "http://127.0.0.1:1"}]}], "policies": {"own": TIDY},
                                      "listen": {"body": MOST_OF_A_BODY}, "routes": [{"upstream": "u", "policy": "own"}]}))
    small = folder / "small"
    small.write_text(chat("a"))
    for words in ((), ("-o", "json"), ("-c", configured)):
        least, _ = key_cost(small, *words)
        for name, make in {**BOMBS, **(CHANGED if "-c" in words else {})}.items():
            began = time.thread_time()
            body = make().encode()
            client = time.thread_time() - began
            (folder / "body").write_bytes(body)
            peak, used = key_cost(folder / "body", *words)
            judge(name, len(body), peak - least, used, client)


idem_test.main(globals())
