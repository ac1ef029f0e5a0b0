#!/usr/bin/env python3
"""Answered requests that are run again: what comes of them, who is put out for it, and that no entry ever changes."""
import json
import os
import shutil
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

CHAT = "/v1/chat/completions"
SHADOW = {"rate": 1, "per_minute": 60000}
QUICK = {"environment": {"interval": "200ms"}, "admission": {"health_interval": "100ms", "interval": "60s", "runs": 2}}


class Tampering:
    """Stands before a simulated engine, and changes the texts of chats once it is told to."""

    def __init__(self, engine):
        self.engine = engine
        self.says = ""  # added to each text of a live chat
        self.seen = []
        self.goes = threading.Event()  # live chats wait for it
        self.goes.set()
        self.front = raw_upstream.RawUpstream(self.answer)
        self.url = self.front.url

    def answer(self, request):
        head, _, body = request.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        method, path, _ = lines[0].split(" ")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        live = path == CHAT and b"live" in body
        if live:
            self.seen.append(headers)
            self.goes.wait(60)
        sent = {k: v for k, v in headers.items() if k.lower() in ("content-type", "authorization", "accept")}
        got = idem_test.request(self.engine.url, path, method, body or None, sent)
        text = got.body
        if live and self.says:
            said = json.loads(text)
            said["choices"][0]["message"]["content"] += self.says
            text = json.dumps(said).encode()
        kind = got["content-type"] or "application/json"
        return (f"HTTP/1.1 {got.status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text, "keep")


def gateway_for(replicas, policy, store="memory", data=None, rules=None, expect=None, **upstream):
    up = {"name": "up", "engine": "llamacpp", "probe": "on", "exclusive": True, **QUICK,
          "replicas": [{"id": name, "url": url} for name, url in replicas.items()], **upstream}
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": store if isinstance(store, dict) else {"store": store}, "upstreams": [up], "policies": {"again": {"extends": policy, "shadow": rules or SHADOW}},
                   "routes": [{"upstream": "up", "policy": "again"}]}, file)
    gateway = idem_test.serve(config=path, data=data)
    for name in replicas if expect is None else expect:
        idem_test.wait_until(lambda name=name: state(gateway, name)["state"] == "admitted", f"{name} is admitted", 20)
    return gateway


def state(gateway, replica):
    listed = idem_test.admin(gateway, "/admin/v1/replicas").json()["upstreams"][0]["replicas"]
    return {each["id"]: each for each in listed}[replica]


def ask(gateway, prompt="live", headers=None, **more):
    got = idem_test.request(gateway.url, CHAT, body={"model": "m", "messages": [{"role": "user", "content": prompt}], "temperature": 0, **more},
                            headers=headers)
    assert got.status == 200, (got.status, got.body)
    return got


def runs(gateway, result):
    return idem_test.metric(gateway, "idem_shadow_runs_total", result=result) or 0


def counted(gateway, result, least):
    """Waits for so many runs that ended like that."""
    try:
        idem_test.wait_until(lambda: runs(gateway, result) >= least, f"{least} of {result}")
    except AssertionError as late:
        found = {each: runs(gateway, each) for each in ("verified", "divergence", "drift", "variation", "failed", "skipped")}
        raise AssertionError(f"{late}: {found}") from None


def divergences(gateway):
    got = idem_test.admin(gateway, "/admin/v1/divergences")
    assert got.status == 200, got.body
    return got.json()


def test_hits_and_fills_that_repeat_are_verified():
    engine = idem_test.simulate("--engine", "llamacpp")
    gateway = gateway_for({"a": engine.url}, "strict")
    first = ask(gateway)
    idem_test.wait_until(lambda: runs(gateway, "verified") == 1, "the fill was run again")
    assert ask(gateway).body == first.body
    idem_test.wait_until(lambda: runs(gateway, "verified") == 2, "the hit was run again")
    assert idem_test.metric(gateway, "idem_determinism_score", upstream="up", replica="a") == 1
    assert divergences(gateway)["divergences"] == []


def test_a_replica_that_drifts_unseen_is_out_after_so_many_divergences_and_stays_out():
    data = idem_test.scratch()
    front = Tampering(idem_test.simulate("--engine", "llamacpp"))
    other = idem_test.simulate("--engine", "llamacpp")
    fleet = {"a": front.url, "b": other.url}
    shadow = {**SHADOW, "targets": ["same"]}
    gateway = gateway_for(fleet, "strict", "embedded", data, shadow, shadow={"quarantine_after": 2, "excerpts": True})
    kept, asked = {}, 0
    for n in range(40):
        prompt = f"live {n}"
        got = ask(gateway, prompt)
        asked += 1
        if got["idem-replica"] == "a":
            kept[prompt] = got.body
            assert got["idem-guarantee"] != "none", (got.headers, idem_test.admin(gateway, "/admin/v1/replicas").body)
        if len(kept) == 3:
            break
    assert len(kept) == 3
    idem_test.wait_until(lambda: runs(gateway, "verified") == asked, "they were all verified")
    front.says = " otherwise"
    for n, prompt in enumerate(kept):
        assert ask(gateway, prompt).body == kept[prompt], "an entry changed"
        if n < 2:
            counted(gateway, "divergence", n + 1)
    idem_test.wait_until(lambda: state(gateway, "a")["state"] == "quarantined", "a is quarantined", 15)
    assert state(gateway, "a")["why"] == "answers_diverged", state(gateway, "a")
    assert state(gateway, "b")["state"] == "admitted"
    for prompt, body in kept.items():
        assert ask(gateway, prompt).body == body
    told = divergences(gateway)
    newest = told["divergences"][0]
    assert newest["blame"] == "replica" and newest["blamed"] == "a" and newest["upstream"] == "up", newest
    assert newest["stored"]["replica"] == "a" and newest["again"]["replica"] == "a", newest
    assert newest["stored"]["digest"] != newest["again"]["digest"], newest
    assert newest["stored"]["environment"] == newest["again"]["environment"] == state(gateway, "a")["environment"], newest
    assert newest["first_difference"]["byte"] > 0 and "otherwise" in newest["first_difference"]["again"], newest
    score = idem_test.metric(gateway, "idem_determinism_score", upstream="up", replica="a")
    assert 0 < score < 1, score
    diverged = runs(gateway, "divergence")
    gateway.stop()

    gateway = gateway_for(fleet, "strict", "embedded", data, shadow, expect=["b"], shadow={"quarantine_after": 2, "excerpts": True})
    idem_test.wait_until(lambda: runs(gateway, "divergence") == diverged, "the counters are read again")
    assert divergences(gateway)["divergences"] == told["divergences"]
    assert idem_test.metric(gateway, "idem_determinism_score", upstream="up", replica="a") == score
    idem_test.wait_until(lambda: state(gateway, "a")["state"] == "quarantined", "a is still out", 15)
    assert state(gateway, "a")["why"] == "answers_diverged"


def test_without_leave_no_text_of_an_answer_is_shown():
    front = Tampering(idem_test.simulate("--engine", "llamacpp"))
    gateway = gateway_for({"a": front.url}, "strict")
    ask(gateway)
    idem_test.wait_until(lambda: runs(gateway, "verified") == 1, "it was verified")
    front.says = " secretly"
    ask(gateway)
    idem_test.wait_until(lambda: divergences(gateway)["divergences"], "a divergence")
    text = json.dumps(divergences(gateway))
    assert "secretly" not in text and "live" not in text, text
    assert list(divergences(gateway)["divergences"][0]["first_difference"]) == ["byte", "character", "token"]
    assert "secretly" not in gateway.output()


def test_no_run_changes_an_entry_and_what_nothing_promised_is_variation():
    engine = idem_test.simulate("--flip-hazard", "1")
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "embedded"}, "upstreams": [{"name": "up", "replicas": [{"id": "a", "url": engine.url}]}],
                   "policies": {"again": {"extends": "relaxed", "shadow": SHADOW}},
                   "routes": [{"upstream": "up", "policy": "again"}]}, file)
    gateway = idem_test.serve(config=path, data=idem_test.scratch())
    first = {n: ask(gateway, f"live {n}", stream=n % 2 == 1).body for n in range(10)}
    for again in range(20):
        for n, body in first.items():
            assert ask(gateway, f"live {n}", stream=n % 2 == 1).body == body, (again, n)
    idem_test.wait_until(lambda: runs(gateway, "variation") >= 60, "most were run again", 30)
    for n, body in first.items():
        assert ask(gateway, f"live {n}", stream=n % 2 == 1).body == body, n
    assert runs(gateway, "divergence") == runs(gateway, "drift") == 0
    assert divergences(gateway)["divergences"] == []


def test_an_answer_computed_anew_for_a_caller_is_compared():
    engine = idem_test.simulate()
    gateway = idem_test.serve(engine.url)
    first = ask(gateway)
    assert runs(gateway, "verified") == 0
    ask(gateway, headers={"Cache-Control": "no-cache"})
    idem_test.wait_until(lambda: runs(gateway, "verified") == 1, "it was compared")
    assert ask(gateway).body == first.body
    assert engine.stats()["calls"] == 2, engine.stats()


def test_a_run_has_the_callers_credential_and_nobody_logs_it():
    front = Tampering(idem_test.simulate("--engine", "llamacpp"))
    gateway = gateway_for({"a": front.url}, "strict")
    ask(gateway, headers={"Authorization": "Bearer very-private"})
    idem_test.wait_until(lambda: runs(gateway, "verified") == 1, "it was verified")
    given = [{k.lower(): v for k, v in each.items()}.get("authorization") for each in front.seen]
    assert given == ["Bearer very-private"] * 2, given
    assert "very-private" not in gateway.output()


def test_a_run_waits_behind_calls_and_its_rate_is_bounded():
    engine = idem_test.simulate("--engine", "llamacpp")
    gateway = gateway_for({"a": engine.url}, "strict", rules={"rate": 1, "per_minute": 10})
    ask(gateway)
    idem_test.wait_until(lambda: runs(gateway, "verified") == 1, "it was verified")
    before = engine.stats()["calls"]
    for _ in range(200):
        ask(gateway)
    assert engine.stats()["calls"] <= before + 1
    assert idem_test.metric(gateway, "idem_shadow_runs_total", result="skipped") == 0


def test_a_run_that_hangs_holds_neither_the_end_nor_hits():
    front = Tampering(idem_test.simulate("--engine", "llamacpp"))
    gateway = gateway_for({"a": front.url}, "strict", "embedded", idem_test.scratch())
    first = ask(gateway)
    idem_test.wait_until(lambda: runs(gateway, "verified") == 1, "the fill was run again")
    front.goes.clear()
    for _ in range(100):
        assert ask(gateway).body == first.body
    idem_test.wait_until(lambda: len(front.seen) == 3, "a run hangs")
    assert ask(gateway).body == first.body
    began = time.monotonic()
    gateway.stop()
    assert time.monotonic() - began < 10
    front.goes.set()


def test_a_run_that_the_end_cuts_leaves_the_lease_in_doubt():
    if not shutil.which("redis-server"):
        raise idem_test.Skip("no redis-server")
    redis = idem_test.redis_server()
    front = Tampering(idem_test.simulate("--engine", "llamacpp"))
    gateway = gateway_for({"a": front.url}, "strict", {"store": "redis", "redis": {"urls": [redis.url]}}, concurrency={"mode": "serial"})
    ask(gateway)
    idem_test.wait_until(lambda: runs(gateway, "verified") == 1, "the fill was run again")
    front.goes.clear()
    ask(gateway)
    idem_test.wait_until(lambda: len(front.seen) == 3, "a run hangs")
    gateway.stop()
    lease = redis.command("GET", "idem:lease:{slot:up/a}")
    front.goes.set()
    # Whoever takes it next asks the engine first: it is not given back to nobody, as one is under which all has ended.
    assert b"idem-lease" in lease and 64 * b"0" not in lease, lease


def test_a_request_that_may_not_be_kept_is_not_run_again():
    front = Tampering(idem_test.simulate("--engine", "llamacpp"))
    gateway = gateway_for({"a": front.url}, "strict")
    ask(gateway)
    idem_test.wait_until(lambda: runs(gateway, "verified") == 1, "the fill was run again")
    assert ask(gateway, headers={"Cache-Control": "no-store"})["x-cache"] == "HIT"
    assert ask(gateway)["x-cache"] == "HIT"
    idem_test.wait_until(lambda: runs(gateway, "verified") >= 2, "the second hit was run again")
    assert len(front.seen) == 3


def test_what_is_deleted_while_it_waits_is_not_run_again():
    front = Tampering(idem_test.simulate("--engine", "llamacpp"))
    gateway = gateway_for({"a": front.url}, "strict", "embedded", idem_test.scratch())
    for n in (1, 2):
        ask(gateway, f"live {n}")
    idem_test.wait_until(lambda: runs(gateway, "verified") == 2, "the fills were run again")
    front.goes.clear()
    ask(gateway, "live 1")
    idem_test.wait_until(lambda: len(front.seen) == 5, "a run hangs")
    key = ask(gateway, "live 2")["idem-key"]
    assert idem_test.admin(gateway, f"/admin/v1/entries/{key}", "DELETE").status in (200, 204)
    front.goes.set()
    idem_test.wait_until(lambda: runs(gateway, "skipped") == 1, "it was left out")
    idem_test.wait_until(lambda: runs(gateway, "verified") == 3, "the other one was not")
    assert len(front.seen) == 5


def test_two_gateways_on_one_store_keep_one_account():
    front = Tampering(idem_test.simulate("--engine", "llamacpp"))
    redis = idem_test.redis_server()
    cache = {"store": "redis", "redis": {"urls": [f"redis://127.0.0.1:{redis.ports[0]}"]}}
    one, two = (gateway_for({"a": front.url}, "strict", cache) for _ in range(2))
    ask(one, "live 1")
    ask(two, "live 2")
    for each in (one, two):
        idem_test.wait_until(lambda each=each: runs(each, "verified") == 2, "each knows of both", 20)
    front.says = " otherwise"
    ask(two, "live 2")
    for each in (one, two):
        idem_test.wait_until(lambda each=each: divergences(each)["divergences"], "each knows of the divergence", 20)
    assert divergences(one)["divergences"] == divergences(two)["divergences"]
    # One replica alone is never put out for its answers: it goes on, and nothing is guaranteed any more.
    assert state(one, "a")["state"] == "admitted"


if __name__ == "__main__":
    idem_test.main(globals())
