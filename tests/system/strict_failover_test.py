#!/usr/bin/env python3
"""Strict calls while replicas die, flap, refuse, dawdle and fall silent: the same bytes from a sibling, or 503 in time."""
import json
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

CHAT = "/v1/chat/completions"
COUNT = iter(range(1 << 30))


def gateway_to(urls, engine="llamacpp", **more):
    """A gateway before replicas a, b, … of one strict upstream; answers once all of them are admitted."""
    upstream = {"name": "up", "engine": engine, "replicas": [{"id": "abcdef"[i], "url": url} for i, url in enumerate(urls)],
                "admission": {"runs": 2, "health_interval": "1s"}, "environment": {"interval": "1s"}, **more}
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [upstream], "routes": [{"upstream": "up", "policy": "strict"}]}, file)
    gateway = idem_test.serve(config=path)
    for each in "abcdef"[:len(urls)]:
        until(gateway, each, "admitted")
    return gateway


def state(gateway, replica):
    found = idem_test.admin(gateway, "/admin/v1/replicas").json()["upstreams"][0]["replicas"]
    return next(each["state"] for each in found if each["id"] == replica)


def until(gateway, replica, wanted, deadline=20):
    idem_test.wait_until(lambda: state(gateway, replica) == wanted, f"{replica} is {wanted}", deadline, 0.02)


def body(text):
    return {"model": "m", "max_tokens": 8, "messages": [{"role": "user", "content": text}]}


def ask(gateway, text=None):
    began = time.monotonic()
    answer = idem_test.request(gateway.url, CHAT, body=body(text or f"question {next(COUNT)}"))
    answer.took = time.monotonic() - began
    return answer


def said(answer):
    return answer.json()["choices"][0]["message"]["content"]


def code(answer):
    return answer.json()["error"]["code"]


def together(gateway, many):
    answers, threads = [], []
    for i in range(many):
        threads.append(threading.Thread(target=lambda i=i: answers.append(ask(gateway, f"together {next(COUNT)}"))))
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return answers


def engine(*flags):
    return idem_test.simulate("--engine", "llamacpp", *flags)


def test_calls_leave_a_silent_replica_within_a_second_and_it_is_attested_before_it_gets_any_again():
    a, b = engine(), engine()
    gateway = gateway_to([a.url, b.url])
    assert {ask(gateway)["idem-replica"] for _ in range(20)} == {"a", "b"}
    os.kill(a.pid, signal.SIGSTOP)  # its kernel still accepts
    try:
        answers = together(gateway, 24)
        assert [x.status for x in answers] == [200] * 24, [(x.status, x.body) for x in answers if x.status != 200]
        assert {x["idem-replica"] for x in answers} == {"b"}
        # On an idle machine the slowest takes about 0.8 s; the deadline of a first byte is 120 s.
        assert max(x.took for x in answers) < 5, sorted(x.took for x in answers)
        until(gateway, "a", "down")
        assert {ask(gateway)["idem-replica"] for _ in range(20)} == {"b"}
    finally:
        os.kill(a.pid, signal.SIGCONT)
    before = a.stats()["calls"]
    until(gateway, "a", "admitted")
    assert a.stats()["calls"] > before, "no golden prompt was run"
    idem_test.wait_until(lambda: ask(gateway)["idem-replica"] == "a", "the replica is used again")
    log = gateway.output()
    assert "admitted -> down (unreachable" in log and "down -> probing (returned" in log, log


def test_where_all_are_silent_a_call_is_refused_and_does_not_hang():
    a = engine()
    gateway = gateway_to([a.url])
    os.kill(a.pid, signal.SIGSTOP)
    try:
        answers = together(gateway, 8)
        assert {(x.status, code(x)) for x in answers} == {(503, "determinism_unavailable")}, [(x.status, x.body) for x in answers]
        assert max(x.took for x in answers) < 15, [x.took for x in answers]
        assert all(x.headers["retry-after"] for x in answers)
        late = ask(gateway)
        assert (late.status, code(late)) == (503, "determinism_unavailable") and late.took < 1, (late.status, late.took)
    finally:
        os.kill(a.pid, signal.SIGCONT)
    until(gateway, "a", "admitted")
    assert ask(gateway).status == 200


def test_a_replica_that_falls_silent_in_a_golden_prompt_is_down_all_the_same():
    a, b = engine("--latency", "300"), engine()
    gateway = gateway_to([a.url, b.url])
    assert idem_test.admin(gateway, "/admin/v1/replicas/a/attest", method="POST").status in (200, 202, 204)
    calls = a.stats()["calls"]
    idem_test.wait_until(lambda: a.stats()["calls"] > calls, "a golden prompt runs", 10, 0.01)
    os.kill(a.pid, signal.SIGSTOP)
    try:
        answer = ask(gateway)
        assert answer.status == 200, (answer.status, answer.body)
        until(gateway, "a", "down")
    finally:
        os.kill(a.pid, signal.SIGCONT)
    until(gateway, "a", "admitted")


def test_calls_that_never_reach_the_engine_move_although_its_health_is_good():
    """Something before the engine swallows calls and answers everything else."""
    a, b = engine(), engine()
    swallows, free = threading.Event(), threading.Event()

    def relay(request):
        head, _, sent = request.partition(b"\r\n\r\n")
        method, path = head.split(b" ")[0].decode(), head.split(b" ")[1].decode()
        if path == CHAT and swallows.is_set():
            free.wait(60)
            return b"", "fin"
        told = idem_test.request(a.url, path, method, sent or None)
        return raw_upstream.sized(told.body, told["Content-Type"], f"{told.status} OK"), "keep"

    before = raw_upstream.RawUpstream(relay)
    gateway = gateway_to([before.url, b.url])
    assert {ask(gateway)["idem-replica"] for _ in range(20)} == {"a", "b"}
    swallows.set()
    answers = together(gateway, 12)
    assert [x.status for x in answers] == [200] * 12, [(x.status, x.body) for x in answers if x.status != 200]
    assert {x["idem-replica"] for x in answers} == {"b"}
    # On an idle machine the slowest takes about 1.1 s.
    assert max(x.took for x in answers) < 6, sorted(x.took for x in answers)
    assert "replica_deaf" in gateway.output()
    swallows.clear()
    free.set()
    idem_test.wait_until(lambda: ask(gateway)["idem-replica"] == "a", "the replica is used again", 30)


def test_a_flapping_replica_gives_the_siblings_bytes_or_none():
    a, b = engine(), engine()
    gateway = gateway_to([a.url, b.url])
    truth = {f"flap {i}": said(ask(gateway, f"flap {i}")) for i in range(8)}
    answers, done = [], threading.Event()

    def client():
        while not done.is_set():
            for text, words in truth.items():
                x = idem_test.request(gateway.url, CHAT, body=body(text), headers={"Cache-Control": "no-cache"})
                answers.append((x.status, x.status != 200 or said(x) == words, x.body))

    thread = threading.Thread(target=client, daemon=True)
    thread.start()
    url = a.url
    for _ in range(3):
        a.kill()
        until(gateway, "a", "down")
        a = idem_test.Process([idem_test.BINARY, "simulate", "--engine", "llamacpp", "--listen", url.removeprefix("http://")])
        until(gateway, "a", "admitted")
    done.set()
    thread.join()
    assert len(answers) > 20 and all(same for _, same, _ in answers), [x for x in answers if not x[1]]
    # What was on its way when the replica died is repeated on the other one, within the budget.
    assert {status for status, _, _ in answers} == {200}, [x for x in answers if x[0] != 200]


class Halfway:
    """Before a real engine: every second model call is turned away."""

    def __init__(self, url):
        self.url = url
        self.calls = 0
        self.server = raw_upstream.RawUpstream(self.answer)

    def answer(self, request):
        head, _, rest = request.partition(b"\r\n\r\n")
        method, path, _ = head.split(b"\r\n")[0].decode().split(" ")
        if path == CHAT:
            self.calls += 1
            if self.calls % 2:
                return raw_upstream.sized(b"{}", status="503 Service Unavailable"), "keep"
        ask = urllib.request.Request(self.url + path, data=rest or None, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(ask, timeout=10) as got:
                return raw_upstream.sized(got.read(), got.headers["Content-Type"]), "keep"
        except urllib.error.HTTPError as error:
            return raw_upstream.sized(error.read(), status=f"{error.code} X"), "keep"


def test_a_replica_that_refuses_half_the_time_costs_no_answer_while_the_budget_lasts():
    a, b = engine(), engine()
    half = Halfway(a.url)
    upstream = {"admission": {"runs": 0, "health_interval": "1s"}}
    gateway = gateway_to([half.server.url, b.url], **upstream)
    answers = [ask(gateway) for _ in range(60)]
    assert [x.status for x in answers] == [200] * 60, [(x.status, x.body) for x in answers if x.status != 200]
    assert max(x.took for x in answers) < 5
    assert {x["idem-replica"] for x in answers} >= {"b"}


def test_a_slow_replica_that_lives_is_left_after_one_deadline_and_not_asked_twice():
    a, b = engine("--latency", "60000"), engine()
    upstream = {"admission": {"runs": 0, "health_interval": "1s"}, "timeouts": {"first_byte": "400ms"}}
    gateway = gateway_to([a.url, b.url], **upstream)
    answers = []
    while len(answers) < 60:
        answers.append(ask(gateway))
    late = [x for x in answers if x.status != 200]
    assert late and {(x.status, code(x)) for x in late} == {(504, "upstream_timeout")}, [(x.status, x.body) for x in late]
    # One ejects it; after that one for each time that it is tried again, every two seconds and ever more seldom.
    assert len(late) <= 3, len(late)
    assert {x["idem-replica"] for x in answers if x.status == 200} == {"b"}
    assert a.stats()["calls"] == len(late), (a.stats(), len(late))


idem_test.main(globals())
