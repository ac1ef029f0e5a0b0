#!/usr/bin/env python3
"""Callers of every kind at once: streams and objects, some that leave in the middle, on gateways that share a store.

Every answer of the upstream has other words, so that a second answer to one request would show. A caller who has seen the end
of an answer has seen the answer: whatever others do, all who see an end of the same request see the same words.
"""
import itertools
import json
import os
import random
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

KEYS, THREADS = 12, 8
SECONDS = 60 if idem_test.LONG else 4
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


class Upstream:
    """Answers slowly and in pieces: w<number> twice, with a pause between."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.server = raw_upstream.RawUpstream(self.answer)

    def answer(self, request):
        words = f"w{next(self.numbers)} "
        time.sleep(0.002)
        if b'"stream":true' not in request:
            whole = {**CHUNK, "object": "chat.completion", "usage": USAGE, "choices": [
                {"index": 0, "message": {"role": "assistant", "content": words * 2}, "finish_reason": "stop"}]}
            return raw_upstream.sized(json.dumps(whole)), "keep"
        deltas = [{"role": "assistant", "content": ""}, {"content": words}, {"content": words}]
        events = [{**CHUNK, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
        events.append({**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        events.append({**CHUNK, "choices": [], "usage": USAGE})
        return raw_upstream.chunked([*(f"data: {json.dumps(e)}\n\n" for e in events), "data: [DONE]\n\n"]), "keep"


def ask(port, prompt, stream, leave):
    """The words of the answer, or None for a caller that left."""
    body = json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}]}, separators=(",", ":"))
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(wire.post_bytes("/v1/chat/completions", body.encode(), {"Connection": "close"}))
        if leave:
            connection.recv(random.choice((1, 400, 900)))
            return None
        answer = wire.read_answer(connection)
    assert answer.status == 200 and answer.clean, (answer.status, answer.headers, answer.body)
    assert not stream or answer.body.endswith(b"data: [DONE]\n\n"), answer.body[-300:]
    words = set(re.findall(rb"w\d+", answer.body))
    assert len(words) == 1, answer.body
    return words.pop()


def churn(gateways):
    seen = {n: set() for n in range(KEYS)}
    end, faults, answers = time.monotonic() + SECONDS, [], [0]

    def work(number):
        chance = random.Random(number)
        while time.monotonic() < end and not faults:
            key = chance.randrange(KEYS)
            try:
                words = ask(chance.choice(gateways).ports[0], f"churn {key}", chance.random() < 0.5, chance.random() < 0.3)
            except (AssertionError, OSError) as fault:
                faults.append(fault)
                return
            if words:
                seen[key].add(words)
                answers[0] += 1

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[0]
    assert answers[0] > KEYS, answers
    return {key: words for key, words in seen.items() if len(words) > 1}


def arrivals(gateway, upstream):
    """Rounds of callers of one new request each, who come at any moment of its fill: before, within, at its end, behind it."""
    rounds, end = 0, time.monotonic() + SECONDS
    calls = lambda: len(upstream.server.requests)
    before, seen, faults = calls(), {}, []

    def work(number, meet):
        chance = random.Random(number)
        try:
            for turn in itertools.count():
                meet.wait()
                if turn == last[0]:
                    return
                time.sleep(chance.random() * 0.006)
                seen.setdefault(turn, set()).add(ask(gateway.ports[0], f"turn {turn}", number % 2 == 0, False))
        except Exception as fault:  # the others must not wait for this one
            faults.append(fault)
            meet.abort()

    last, meet = [None], threading.Barrier(THREADS + 1, timeout=60)
    threads = [threading.Thread(target=work, args=(n, meet)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        while time.monotonic() < end:
            meet.wait()
            rounds += 1
        last[0] = rounds
        meet.wait()
    except threading.BrokenBarrierError:
        pass
    for thread in threads:
        thread.join()
    assert not faults, faults[0]
    assert calls() - before == rounds, f"{calls() - before} calls for {rounds} requests"
    assert all(len(words) == 1 for words in seen.values())


def test_one_call_however_the_callers_arrive():
    for store in ("memory", "embedded"):
        upstream = Upstream()
        arrivals(idem_test.serve(upstream.server.url, store=store), upstream)


def test_in_memory():
    assert not (twice := churn([idem_test.serve(Upstream().server.url, store="memory")])), twice


def test_in_the_embedded_store():
    assert not (twice := churn([idem_test.serve(Upstream().server.url, store="embedded")])), twice


def test_in_the_embedded_store_alone():
    gateway = idem_test.serve(Upstream().server.url, "--set", "cache.memory=0", store="embedded")
    assert not (twice := churn([gateway])), twice


def test_in_redis():
    store = idem_test.redis_server()
    gateway = idem_test.serve(Upstream().server.url, "--redis", store.url, store="redis")
    assert not (twice := churn([gateway])), twice


idem_test.main(globals())
