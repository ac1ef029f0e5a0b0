#!/usr/bin/env python3
"""Limits on what callers may use of the upstreams: calls under way and calls a minute, while answers from the store cost nothing."""
import concurrent.futures
import hashlib
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

CHAT = "/v1/chat/completions"
ANSWER = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]})
COUNT = iter(range(1 << 30))


def gateway_to(url, limits, **more):
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": [{"id": "a", "url": url}]}],
                   "limits": limits, **more}, file)
    return idem_test.serve(config=path)


def body(text=None, **more):
    return {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": text or f"question {next(COUNT)}"}], **more}


def ask(gateway, who="a", text=None, path=CHAT, headers=None, **more):
    return idem_test.request(gateway.url, path, body=body(text, **more), headers={"Authorization": f"Bearer {who}", **(headers or {})}, timeout=60)


def refused(gateway, reason):
    return idem_test.metric(gateway, "idem_upstream_refused_total", upstream="up", reason=reason)


class Held:
    """Holds every call until it is let go."""

    def __init__(self):
        self.free = threading.Event()
        self.server = raw_upstream.RawUpstream(self.answer)
        self.url, self.requests = self.server.url, self.server.requests

    def answer(self, request):
        self.free.wait(30)
        return raw_upstream.sized(ANSWER), "keep"


def begin(pool, engine, gateway, count, who, **more):
    """`count` calls of one caller, all of them upstream."""
    before = len(engine.requests)
    calls = [pool.submit(ask, gateway, who, **more) for _ in range(count)]
    idem_test.wait_until(lambda: len(engine.requests) == before + count, f"{count} calls are upstream")
    return calls


def test_a_rate_is_a_callers_own_and_answers_from_the_store_are_free():
    engine = idem_test.simulate()
    gateway = gateway_to(engine.url, {"caller": {"per_minute": 3}})
    assert [ask(gateway, text=f"{i}").status for i in range(3)] == [200] * 3
    over = ask(gateway, text="3")
    assert over.status == 429 and over.json()["error"]["code"] == "rate_limited", over.body
    assert over.json()["error"]["type"] == "rate_limit_error"
    assert 1 <= int(over["retry-after"]) <= 20
    assert all(ask(gateway, text=f"{i}")["x-cache"] == "HIT" for i in range(3) for _ in range(5))
    assert ask(gateway, path="/v1/audio/speech", input="x").status == 429  # what is only passed on counts, too
    assert ask(gateway, "b", text="3").status == 200
    assert refused(gateway, "rate_limited") == 2
    assert engine.stats()["calls"] == 4


def test_each_api_tells_it_in_its_own_words():
    engine = idem_test.simulate()
    gateway = gateway_to(engine.url, {"caller": {"per_minute": 1}})
    assert ask(gateway).status == 200
    anthropic = idem_test.request(gateway.url, "/v1/messages", body=body(max_tokens=5),
                                  headers={"Authorization": "Bearer a", "anthropic-version": "2023-06-01"})
    assert anthropic.status == 429 and anthropic.json()["type"] == "error", anthropic.body
    assert anthropic.json()["error"]["type"] == "rate_limit_error"
    gemini = idem_test.request(gateway.url, "/v1beta/models/m:generateContent", body={"contents": [{"parts": [{"text": "x"}]}]},
                               headers={"Authorization": "Bearer a"})
    assert gemini.status == 429 and gemini.json()["error"]["code"] == 429, gemini.body


def test_calls_under_way_of_one_caller():
    engine = Held()
    gateway = gateway_to(engine.url, {"caller": {"calls": 2}})
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        calls = begin(pool, engine, gateway, 2, "a")
        over = ask(gateway)
        assert over.status == 429 and over.json()["error"]["code"] == "too_many_calls", over.body
        assert over["retry-after"] == "1"
        calls += begin(pool, engine, gateway, 2, "b")
        # What the caller may choose is no way round.
        for headers in ({"OpenAI-Organization": "other"}, {"OpenAI-Project": "other"}, {"Idem-Namespace": "other"}):
            assert ask(gateway, headers=headers).status == 429
        assert ask(gateway, cache_salt="other").status == 429
        engine.free.set()
        assert [c.result().status for c in calls] == [200] * 4
    assert ask(gateway).status == 200
    assert refused(gateway, "too_many_calls") == 5


def test_callers_who_join_a_call_use_nothing():
    engine = Held()
    gateway = gateway_to(engine.url, {"caller": {"calls": 1}})
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        calls = begin(pool, engine, gateway, 1, "a", text="same")
        calls += [pool.submit(ask, gateway, "a", "same") for _ in range(10)]
        idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flight_followers") == 11, "all of them follow")
        engine.free.set()
        assert [c.result().status for c in calls] == [200] * 11
    assert len(engine.requests) == 1


def test_calls_under_way_of_all_callers():
    engine = Held()
    gateway = gateway_to(engine.url, {"calls": 3})
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        calls = [c for who in "abc" for c in begin(pool, engine, gateway, 1, who)]
        over = ask(gateway, "d")
        assert over.status == 503 and over.json()["error"]["code"] == "overloaded", over.body
        assert over["retry-after"] == "1"
        engine.free.set()
        assert [c.result().status for c in calls] == [200] * 3
    assert ask(gateway, "d").status == 200
    assert refused(gateway, "overloaded") == 1


def test_a_named_caller_is_one_caller_whatever_its_keys():
    path = os.path.join(idem_test.scratch(), "clients")
    digests = {key: hashlib.sha256(key.encode()).hexdigest() for key in ("old", "new", "theirs")}
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"ours {digests['old']} {digests['new']}\ntheirs {digests['theirs']}\n")
    engine = idem_test.simulate()
    gateway = gateway_to(engine.url, {"caller": {"per_minute": 2}}, listen={"clients": path})
    assert [ask(gateway, who).status for who in ("old", "new", "old", "new", "theirs")] == [200, 200, 429, 429, 200]


if __name__ == "__main__":
    idem_test.main(globals())
