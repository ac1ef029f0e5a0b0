#!/usr/bin/env python3
"""An answer whose form cannot become the other one without loss: the other form is fetched and kept beside it, if it says the same."""
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

CHAT = "/v1/chat/completions"
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class Upstream:
    """Its objects hold a member that no stream can carry, its streams say nothing of usage, so that no object can be made of them."""

    def __init__(self):
        self.words = {"object": "hi", "stream": "hi"}
        self.hold = None
        self.server = raw_upstream.RawUpstream(self.answer)

    def answer(self, request):
        if self.hold:
            self.hold.wait(20)
        if b'"stream":true' in request:
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            pieces = [{"role": "assistant", "content": self.words["stream"]}, {}]
            events = [{**chunk, "choices": [{"index": 0, "delta": d, "finish_reason": None if d else "stop"}]} for d in pieces]
            return raw_upstream.chunked([*(f"data: {json.dumps(e)}\n\n" for e in events), "data: [DONE]\n\n"]), "keep"
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "obfuscation": "x", "usage": USAGE, "choices": [
            {"index": 0, "message": {"role": "assistant", "content": self.words["object"]}, "finish_reason": "stop"}]}
        return raw_upstream.sized(json.dumps(whole)), "keep"

    def calls(self):
        return len(self.server.requests)


def settled(gateway):
    """A stream's end comes before its answer is stored: until then the next caller joins."""
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flights") == 0, "nothing is in flight", 20)


def ask(gateway, stream, prompt="same", settle=True, **headers):
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}]}
    text = json.dumps(body, separators=(",", ":"))
    answer = idem_test.request(gateway.url, CHAT, body=text, headers={**headers, "Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    if settle:
        settled(gateway)
    return answer


def check_other_form(gateway, upstream, prompt, first, want):
    """One asks for a stream, or an object, and another for the other form meanwhile: it never gets what the first one asked for."""
    upstream.hold = threading.Event()
    answers = {}

    def one(stream):
        body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}]}
        answers[stream] = wire.post(gateway.url, CHAT, json.dumps(body, separators=(",", ":")).encode())

    threads = [threading.Thread(target=one, args=(stream,)) for stream in (first, not first)]
    before = upstream.calls()
    threads[0].start()
    idem_test.wait_until(lambda: upstream.calls() == before + 1, "the first one leads")
    threads[1].start()
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flight_followers") == 2, "the second one follows")
    upstream.hold.set()
    for thread in threads:
        thread.join()
    upstream.hold = None
    got = answers[not first]
    assert got.status == want, (prompt, got.status, got.body[:300])
    expected = "application/json" if first or want != 200 else "text/event-stream"
    assert got.headers["content-type"] == expected, (prompt, got.headers)
    if want == 200 and first:
        assert json.loads(got.body)["choices"][0]["message"]["content"] == "hi"
    settled(gateway)


def test_who_follows_one_of_the_other_form_never_gets_that_form():
    upstream = Upstream()
    gateway = idem_test.serve(upstream.server.url)
    usual = upstream.server.answer
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def event(text, finish=None):
        return f"data: {json.dumps({**chunk, 'choices': [{'index': 0, 'delta': {'content': text}, 'finish_reason': finish}]})}\n\n"

    streams = {"too long an event": [event("x" * 1_200_000), event("", "stop"), "data: [DONE]\n\n"],
               "no marker": [event("hi"), event("", "stop")],
               "an error": [event("hi"), 'data: {"error":{"message":"x"}}\n\n']}
    for name, pieces in streams.items():
        def answer(request, pieces=pieces):
            if b'"stream":true' not in request:
                return usual(request)
            upstream.hold.wait(20)
            return raw_upstream.chunked(pieces), "keep"

        upstream.server.answer = answer
        check_other_form(gateway, upstream, name, True, 200)

    def cut(request, part):
        upstream.hold.wait(20)
        return part, "keep"

    upstream.server.answer = lambda request: cut(request, raw_upstream.chunked([event("hi")]))
    check_other_form(gateway, upstream, "a cut stream", True, 502)
    upstream.server.answer = lambda request: cut(request, raw_upstream.sized('{"choices":['))
    check_other_form(gateway, upstream, "a cut object", False, 502)


def check_both_kept(gateway, upstream):
    for first in (False, True):
        prompt = f"first {first}"
        before = upstream.calls()
        one = ask(gateway, first, prompt)
        other = ask(gateway, not first, prompt)
        assert (one["X-Cache"], other["X-Cache"], upstream.calls()) == ("MISS", "MISS", before + 2)
        for _ in range(2):
            assert (again := ask(gateway, first, prompt))["X-Cache"] == "HIT" and again.body == one.body
            assert (again := ask(gateway, not first, prompt))["X-Cache"] == "HIT" and again.body == other.body
        cached = ask(gateway, not first, prompt, **{"Cache-Control": "only-if-cached"})
        assert cached.body == other.body
        assert upstream.calls() == before + 2, (upstream.calls(), before)


def test_both_forms_are_kept_in_memory():
    upstream = Upstream()
    check_both_kept(idem_test.serve(upstream.server.url, store="memory"), upstream)


def test_both_forms_are_kept_in_the_embedded_store():
    upstream, data = Upstream(), idem_test.scratch("data-")
    gateway = idem_test.serve(upstream.server.url, "--set", "cache.memory=0", store="embedded", data=data)
    check_both_kept(gateway, upstream)
    gateway.stop()
    before = upstream.calls()
    gateway = idem_test.serve(upstream.server.url, store="embedded", data=data)
    assert [ask(gateway, form, "first True")["X-Cache"] for form in (True, False)] == ["HIT", "HIT"]
    assert upstream.calls() == before


def test_another_answer_is_never_kept_beside_the_first():
    for first in (False, True):
        upstream = Upstream()
        upstream.words["object" if first else "stream"] = "other words"
        gateway = idem_test.serve(upstream.server.url, store="memory")
        one = ask(gateway, first)
        for _ in range(2):
            other = ask(gateway, not first)
            assert other["X-Cache"] == "MISS" and b"other words" in other.body, other.body
        assert (again := ask(gateway, first))["X-Cache"] == "HIT" and again.body == one.body
        assert idem_test.metric(gateway, "idem_not_stored_total", reason="form_lossy") == 2
        gateway.stop()


def test_what_stood_beside_an_answer_that_is_gone_is_replaced():
    for store in ("memory", "embedded"):
        upstream = Upstream()
        options = ("--set", "cache.memory=0") if store == "embedded" else ()
        gateway = idem_test.serve(upstream.server.url, *options, store=store)
        ask(gateway, False, **{"Idem-TTL": "1s"})
        ask(gateway, True)
        upstream.words = {"object": "new", "stream": "new"}
        idem_test.wait_until(lambda: ask(gateway, False)["X-Cache"] == "MISS", "the first answer is past its time", 10)
        fetched = ask(gateway, True)
        assert fetched["X-Cache"] == "MISS" and b"new" in fetched.body, fetched.body
        again = ask(gateway, True)
        assert again["X-Cache"] == "HIT" and again.body == fetched.body, store
        gateway.stop()


def test_deleting_an_answer_deletes_what_stands_beside_it():
    upstream = Upstream()
    gateway = idem_test.serve(upstream.server.url, store="embedded")
    key = ask(gateway, False)["Idem-Key"]
    ask(gateway, True)
    assert idem_test.admin(gateway, f"/admin/v1/entries/{key}", "DELETE").status == 200
    before = upstream.calls()
    told = [ask(gateway, form) for form in (True, False)]
    assert [answer["X-Cache"] for answer in told] == ["MISS", "MISS"]
    assert upstream.calls() == before + 2, [l for l in idem_test.request(gateway.admin, "/metrics").body.decode().splitlines() if l.startswith(("idem_not_stored", "idem_stored", "idem_store_err", "idem_requests"))]


def test_many_who_want_the_other_form_make_one_call():
    upstream = Upstream()
    gateway = idem_test.serve(upstream.server.url, store="memory")
    ask(gateway, False)
    upstream.hold = threading.Event()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(ask(gateway, True, settle=False))) for _ in range(20)]
    for thread in threads:
        thread.start()
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flight_followers") >= 20, "all follow", 20)
    upstream.hold.set()
    for thread in threads:
        thread.join()
    assert upstream.calls() == 2 and len({answer.body for answer in answers}) == 1, upstream.calls()


idem_test.main(globals())
