#!/usr/bin/env python3
"""Redis killed, stopped, unreachable or talking nonsense, under load: no client sees an error or a stall, and it is used again
soon after it is back."""
import http.client
import json
import signal
import threading
import time

import idem_test
import relay
import upstream

QUESTIONS = 40
# The whole operation may take 500 ms; the rest is for a busy machine.
PENALTY = 1.5
RECOVERY = 2.0


def start_redis(port):
    folder = idem_test.scratch("redis-")
    words = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
    process = idem_test.Process(words)
    idem_test.wait_until(lambda: idem_test.listening(port), "redis-server listens")
    return process


class Load:
    """Three clients that go round the questions; every answer must be 200, and none may take long."""

    def __init__(self, gateway):
        self.gateway, self.ending = gateway, threading.Event()
        self.errors, self.slowest, self.count = [], 0.0, 0
        self.threads = [threading.Thread(target=self.run, args=(i,), daemon=True) for i in range(3)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.ports[0], timeout=20)
        while not self.ending.is_set():
            number += 1
            began = time.monotonic()
            try:
                status, _, _ = ask(connection, number % QUESTIONS)
                if status != 200:
                    self.errors.append(status)
            except (OSError, http.client.HTTPException) as error:
                self.errors.append(repr(error))
                connection.close()
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.count += 1
        connection.close()

    def wait_for_more(self, answers):
        target = self.count + answers
        idem_test.wait_until(lambda: self.count >= target, f"{answers} more answers", deadline=30)

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join(30)
        assert not self.errors, self.errors[:5]


def ask(connection, number):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"question {number}"}]})
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json", "Authorization": "Bearer k"})
    response = connection.getresponse()
    return response.status, response.read(), response.headers["Cache-Status"] or ""


def from_redis(gateway):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.ports[0], timeout=20)
    try:
        return any("hit" in status and "redis" in status for status in (ask(connection, number)[2] for number in range(QUESTIONS)))
    finally:
        connection.close()


class Setting:
    """Redis behind a relay, a gateway without memory tier, so that every answer asks Redis, and load on it."""

    def __init__(self):
        self.redis_port = idem_test.free_port()
        self.redis = start_redis(self.redis_port)
        self.relay = relay.Relay(self.redis_port)
        self.upstream = upstream.Upstream(lambda call: [upstream.chat_object(call.json()["messages"][0]["content"])])
        self.gateway = idem_test.serve(self.upstream.url, "--redis", f"redis://127.0.0.1:{self.relay.port}", "--set", "cache.memory=0",
                                       store="redis")
        idem_test.wait_until(lambda: from_redis(self.gateway), "answers come from Redis")
        self.load = Load(self.gateway)
        self.load.wait_for_more(200)
        self.load.slowest = 0.0

    def check(self, name, mend):
        """During the trouble: enough answers, none slow; after mending: Redis is used again soon."""
        self.load.wait_for_more(200)
        slowest = self.load.slowest
        mend()
        began = time.monotonic()
        idem_test.wait_until(lambda: from_redis(self.gateway), f"Redis is used again after {name}", deadline=15)
        recovery = time.monotonic() - began
        self.load.end()
        print(f"    {name}: slowest answer {slowest * 1000:.0f} ms, used again after {recovery * 1000:.0f} ms, {self.load.count} answers")
        assert slowest < PENALTY, f"{name}: an answer took {slowest:.2f} s"
        assert recovery < RECOVERY, f"{name}: used again only after {recovery:.2f} s"


def test_killed():
    it = Setting()
    it.redis.kill()
    it.check("kill -9", lambda: start_redis(it.redis_port))


def test_stopped():
    it = Setting()
    it.redis.signal(signal.SIGSTOP)
    it.check("SIGSTOP", lambda: it.redis.signal(signal.SIGCONT))


def test_blackhole():
    it = Setting()
    it.relay.mode = "blackhole"
    it.check("blackhole", lambda: setattr(it.relay, "mode", "pass"))


def test_garbage():
    it = Setting()
    it.relay.mode = "garbage"
    it.check("garbage", lambda: setattr(it.relay, "mode", "pass"))


idem_test.main(globals())
