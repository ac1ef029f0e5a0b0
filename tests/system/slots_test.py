#!/usr/bin/env python3
"""One call at a time on a replica: within a gateway, between gateways that share a store, after callers have left, and when a gateway stops."""
import concurrent.futures
import json
import os
import shutil
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

CHAT = "/v1/chat/completions"
ANSWER = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]})
COUNT = iter(range(1 << 30))


def gateway_to(url, cache=None, engine="llamacpp", **concurrency):
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": cache or {"store": "memory"}, "upstreams": [{
            "name": "up", "engine": engine, "replicas": [{"id": "a", "url": url}],
            "concurrency": {"mode": "serial", **concurrency}}]}, file)
    return idem_test.serve(config=path)


def body(**more):
    return {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": f"question {next(COUNT)}"}], **more}


def ask(gateway, path=CHAT, timeout=60, **more):
    return idem_test.request(gateway.url, path, body=body(**more), timeout=timeout)


def leave(gateway, after, **more):
    """A caller who goes away in the middle."""
    data = json.dumps(body(**more)).encode()
    address = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1]))) as connection:
        connection.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
                           % (CHAT.encode(), len(data), data))
        after(connection)


def in_parallel(count, work):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return [f.result() for f in [pool.submit(work, i) for i in range(count)]]


def peak(engine):
    return engine.stats()["concurrency"]["peak"]


def waiting(gateway):
    return idem_test.metric(gateway, "idem_upstream_waiting", upstream="up")


def test_one_at_a_time_whatever_the_call_is():
    engine = idem_test.simulate("--engine", "llamacpp", "--latency", "20")
    gateway = gateway_to(engine.url)

    def call(i):
        # Cached calls, streams, uncached ones, and paths that no dialect knows.
        if i % 4 == 0:
            return ask(gateway).status
        if i % 4 == 1:
            return ask(gateway, stream=True).status
        if i % 4 == 2:
            return ask(gateway, store=True).status
        return idem_test.request(gateway.url, "/v1/audio/speech", body={"model": "m", "input": f"words {i}"}, timeout=60).status

    assert in_parallel(24, call).count(200) == 24
    assert peak(engine) == 1, engine.stats()
    assert idem_test.metric(gateway, "idem_upstream_in_flight", upstream="up") == 0


def test_what_computes_nothing_waits_for_nobody():
    engine = idem_test.simulate("--engine", "llamacpp", "--latency", "3000")
    gateway = gateway_to(engine.url)
    slow = threading.Thread(target=lambda: ask(gateway))
    slow.start()
    idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 1, "the engine works")
    began = time.monotonic()
    assert idem_test.request(gateway.url, "/v1/models").status == 200
    assert time.monotonic() - began < 2
    slow.join()


def test_an_aborted_call_keeps_the_replica_until_the_engine_says_that_it_is_idle():
    engine = idem_test.simulate("--engine", "llamacpp", "--latency", "700")
    gateway = gateway_to(engine.url)
    for _ in range(3):
        leave(gateway, lambda _: idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 1, "the engine works"))
        assert ask(gateway).status == 200
    assert peak(engine) == 1, engine.stats()
    assert idem_test.metric(gateway, "idem_upstream_unconfirmed_aborts_total") == 0


class Slow:
    """An engine that goes on with a call although its caller has left, and says so under /slots, or does not say."""

    def __init__(self, tells=True):
        self.tells, self.busy, self.peak, self.calls, self.free = tells, 0, 0, 0, threading.Event()
        self.lock = threading.Lock()
        self.server = raw_upstream.RawUpstream(self.answer)
        self.url = self.server.url

    def answer(self, request):
        if request.startswith(b"GET /slots"):
            if not self.tells:
                return raw_upstream.sized('{"error":"no"}', status="501 Not Implemented"), "keep"
            return raw_upstream.sized(json.dumps([{"id": 0, "is_processing": self.busy > 0}])), "keep"
        with self.lock:
            self.busy += 1
            self.calls += 1
            self.peak = max(self.peak, self.busy)
        first = self.calls == 1
        if first:
            self.free.wait(30)
        with self.lock:
            self.busy -= 1
        return raw_upstream.sized(ANSWER), "keep"


def test_an_aborted_client_does_not_free_the_replica_early():
    engine = Slow()
    gateway = gateway_to(engine.url)
    leave(gateway, lambda _: idem_test.wait_until(lambda: engine.calls == 1, "the call is there"))
    answers = []
    after = threading.Thread(target=lambda: answers.append(ask(gateway)))
    after.start()
    idem_test.wait_until(lambda: waiting(gateway) == 1, "the next one waits")
    looks = lambda: sum(r.startswith(b"GET /slots") for r in engine.server.requests)
    idem_test.wait_until(lambda: looks() >= 5, "the gateway has looked again and again")
    assert engine.calls == 1 and not answers
    engine.free.set()
    after.join()
    assert answers[0].status == 200 and engine.peak == 1


def test_where_the_engine_does_not_say_the_replica_is_left_alone_for_a_while():
    engine = Slow(tells=False)
    gateway = gateway_to(engine.url, abort_grace="500ms")
    began = time.monotonic()
    leave(gateway, lambda _: idem_test.wait_until(lambda: engine.calls == 1, "the call is there"))
    assert ask(gateway).status == 200
    assert time.monotonic() - began > 0.5
    assert idem_test.metric(gateway, "idem_upstream_unconfirmed_aborts_total") == 1
    engine.free.set()


def test_the_engine_is_asked_where_it_lives_with_the_upstreams_credential():
    """Its URL ends in /v1, its own pages do not lie below that, and it wants a key."""
    engine = Slow()
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [{
            "name": "up", "engine": "llamacpp", "replicas": [{"id": "a", "url": engine.url + "/v1"}],
            "credentials": {"bearer": "of-the-upstream"}, "concurrency": {"mode": "serial"}}]}, file)
    gateway = idem_test.serve(config=path)
    asked = lambda: [r for r in engine.server.requests if r.startswith(b"GET /slots ")]
    leave(gateway, lambda _: idem_test.wait_until(lambda: engine.calls == 1, "the call is there"))
    idem_test.wait_until(asked, "the engine is asked")
    engine.free.set()
    assert ask(gateway).status == 200
    assert len(asked()) >= 3 and all(b"\r\nAuthorization: Bearer of-the-upstream\r\n" in r for r in asked()), asked()


def test_a_caller_who_leaves_the_queue_is_not_called():
    engine = Slow()
    gateway = gateway_to(engine.url)
    first = threading.Thread(target=lambda: ask(gateway))
    first.start()
    idem_test.wait_until(lambda: engine.calls == 1, "the replica is busy")
    leave(gateway, lambda _: idem_test.wait_until(lambda: waiting(gateway) == 1, "the second one waits"))
    idem_test.wait_until(lambda: waiting(gateway) == 0, "it has left the queue")
    engine.free.set()
    first.join()
    assert ask(gateway).status == 200
    assert engine.calls == 2


def shared(redis):
    return {"store": "redis", "redis": {"urls": [redis.url]}}


def need_redis():
    if not shutil.which("redis-server"):
        raise idem_test.Skip("no redis-server")
    return idem_test.redis_server()


def given_back(redis):
    nobody = b"$77\r\nidem-lease 2 " + 64 * b"0" + b"\r\n"
    idem_test.wait_until(lambda: nobody == redis.command("GET", "idem:lease:{slot:up/a}"), "the lease was given back")


def test_gateways_on_one_store_share_a_replica_one_call_at_a_time():
    redis = need_redis()
    engine = idem_test.simulate("--engine", "llamacpp", "--latency", "5")
    gateways = [gateway_to(engine.url, shared(redis), queue_timeout="120s") for _ in range(2)]
    served = in_parallel(64, lambda i: [ask(gateways[i % 2], timeout=150).status for _ in range(4)])
    assert served == [[200] * 4] * 64, served
    assert peak(engine) == 1, engine.stats()
    assert all(idem_test.metric(g, "idem_upstream_lease_lapses_total") == 0 for g in gateways)
    for gateway in gateways:
        given_back(redis)
        assert idem_test.metric(gateway, "idem_upstream_in_flight") == 0


def test_a_store_of_one_host_is_shared_by_its_processes():
    engine = idem_test.simulate("--engine", "llamacpp", "--latency", "10")
    cache = {"store": "embedded", "embedded": {"path": idem_test.scratch("store-")}}
    gateways = [gateway_to(engine.url, cache) for _ in range(2)]
    assert in_parallel(16, lambda i: ask(gateways[i % 2]).status).count(200) == 16
    assert peak(engine) == 1, engine.stats()


def test_a_gateway_that_stops_loses_the_replica_after_its_lease():
    redis = need_redis()
    engine = Slow()
    stopped, other = (gateway_to(engine.url, shared(redis), lease="2s") for _ in range(2))
    answers = []
    fill = threading.Thread(target=lambda: answers.append(ask(stopped)))
    fill.start()
    idem_test.wait_until(lambda: engine.calls == 1, "the first gateway's call is there")
    stopped.signal(signal.SIGSTOP)
    others = []
    waits = threading.Thread(target=lambda: others.append(ask(other)))
    waits.start()
    looks = lambda: sum(r.startswith(b"GET /slots") for r in engine.server.requests)
    idem_test.wait_until(lambda: looks() >= 5, "the lease is over, and the engine is asked whether that call is")
    assert engine.calls == 1 and not others
    engine.free.set()
    waits.join()
    assert others[0].status == 200 and engine.peak == 1
    assert idem_test.metric(other, "idem_upstream_unconfirmed_aborts_total") == 0
    stopped.signal(signal.SIGCONT)
    fill.join()
    assert answers[0].status == 200
    idem_test.wait_until(lambda: idem_test.metric(stopped, "idem_upstream_lease_lapses_total") == 1, "the lapse was counted")
    assert idem_test.metric(other, "idem_upstream_lease_lapses_total") == 0


def test_after_a_lapse_an_engine_that_does_not_say_is_left_alone_for_a_while():
    redis = need_redis()
    engine = Slow(tells=False)
    stopped, other = (gateway_to(engine.url, shared(redis), lease="1s", abort_grace="700ms") for _ in range(2))
    fill = threading.Thread(target=lambda: ask(stopped))
    fill.start()
    idem_test.wait_until(lambda: engine.calls == 1, "the first gateway's call is there")
    stopped.kill()
    began = time.monotonic()
    assert ask(other).status == 200
    assert time.monotonic() - began > 0.7
    assert idem_test.metric(other, "idem_upstream_unconfirmed_aborts_total") == 1
    engine.free.set()
    fill.join()


def test_a_replica_that_nobody_is_known_to_have_used_is_not_doubted():
    redis = need_redis()
    engine = Slow(tells=False)
    engine.free.set()
    gateway = gateway_to(engine.url, shared(redis), abort_grace="60s")
    assert ask(gateway, timeout=20).status == 200
    assert idem_test.metric(gateway, "idem_upstream_unconfirmed_aborts_total") == 0


def test_who_waits_in_a_gateway_that_was_stopped_begins_nothing_under_its_old_lease():
    redis = need_redis()
    engine = idem_test.simulate("--engine", "llamacpp", "--latency", "40")
    going, stopped = (gateway_to(engine.url, shared(redis), lease="1s", queue_timeout="60s") for _ in range(2))
    done, statuses = threading.Event(), []

    def call(gateway):
        while not done.is_set():
            statuses.append(ask(gateway).status)

    threads = [threading.Thread(target=call, args=(g,)) for g in (going, stopped, stopped)]
    for each in threads:
        each.start()
    for _ in range(5):
        before = idem_test.metric(going, "idem_upstream_lease_lapses_total")
        time.sleep(0.5)  # wherever that falls
        stopped.signal(signal.SIGSTOP)
        time.sleep(1.5)  # longer than the lease; the call that was under way has ended
        stopped.signal(signal.SIGCONT)
        assert idem_test.metric(going, "idem_upstream_lease_lapses_total") == before
    done.set()
    for each in threads:
        each.join()
    assert set(statuses) == {200} and len(statuses) > 30, statuses
    assert peak(engine) == 1, engine.stats()


def test_a_strict_answer_whose_lease_lapsed_is_not_kept():
    redis = need_redis()
    engine = idem_test.simulate("--engine", "llamacpp", "--tokens-per-second", "20")
    folder = idem_test.scratch()
    with open(os.path.join(folder, "golden.jsonl"), "w", encoding="utf-8") as file:
        file.write(json.dumps({"name": "g", "prompt": "hello", "max_tokens": 2}) + "\n")

    def strict():
        path = os.path.join(idem_test.scratch(), "idem.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"cache": shared(redis), "upstreams": [{
                "name": "up", "engine": "llamacpp", "replicas": [{"id": "a", "url": engine.url}], "concurrency": {"lease": "2s"},
                "admission": {"golden": os.path.join(folder, "golden.jsonl"), "runs": 1}}],
                "routes": [{"upstream": "up", "policy": "strict"}]}, file)
        return idem_test.serve(config=path)

    stopped, other = strict(), strict()
    for gateway in (stopped, other):
        idem_test.wait_until(lambda: ask(gateway, max_tokens=2).status == 200, "the replica is admitted", 30, 0.2)
    long = body(max_tokens=80)
    answers = []
    fill = threading.Thread(target=lambda: answers.append(idem_test.request(stopped.url, CHAT, body=long, timeout=60)))
    fill.start()
    idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 1, "the call is under way")
    stopped.signal(signal.SIGSTOP)
    assert ask(other, max_tokens=2).status == 200  # after the lease, when the first call has ended
    assert peak(engine) == 1, engine.stats()
    stopped.signal(signal.SIGCONT)
    fill.join()
    assert answers[0].status == 200 and "detail=lease_lapsed" in answers[0]["cache-status"], answers[0].headers
    assert idem_test.metric(stopped, "idem_not_stored_total", reason="lease_lapsed") == 1
    again = idem_test.request(stopped.url, CHAT, body=long, timeout=60)
    assert again.status == 200 and again["x-cache"] == "MISS", again.headers


def test_a_gateway_that_ends_hands_over_at_once():
    redis = need_redis()
    engine = idem_test.simulate("--engine", "llamacpp")
    first, second = (gateway_to(engine.url, shared(redis), lease="60s") for _ in range(2))
    assert ask(first).status == 200
    assert first.stop() == 0
    assert ask(second, timeout=20).status == 200


def test_without_the_store_calls_go_on():
    redis = need_redis()
    engine = idem_test.simulate("--engine", "llamacpp")
    gateway = gateway_to(engine.url, shared(redis))
    assert ask(gateway).status == 200
    given_back(redis)
    redis.signal(signal.SIGSTOP)
    began = time.monotonic()
    assert ask(gateway).status == 200
    assert time.monotonic() - began < 10
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_upstream_lease_lapses_total") >= 1, "it was counted")
    redis.kill()
    assert in_parallel(8, lambda _: ask(gateway).status).count(200) == 8
    assert peak(engine) == 1, engine.stats()


if __name__ == "__main__":
    idem_test.main(globals())
