#!/usr/bin/env python3
"""Browser pages: preflights pass through, and every answer, stored or not, tells a page's browser what the upstream told it."""
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

CHAT = "/v1/chat/completions"
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
ALLOWED = ("https://one.example", "https://two.example")


class Upstream:
    """Allows two origins, each by its own name; tells others nothing."""

    def __init__(self):
        self.hold = None
        self.server = raw_upstream.RawUpstream(self.answer)

    def answer(self, request):
        head = request.split(b"\r\n\r\n")[0].decode().lower()
        origin = next((line[8:] for line in head.split("\r\n") if line.startswith("origin: ")), "")
        cors = f"Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Credentials: true\r\n" if origin in ALLOWED else ""
        if head.startswith("options"):
            return raw_upstream.sized(b"", status="200 OK", extra=cors + "Access-Control-Allow-Headers: x-stainless-os\r\n"), "keep"
        if self.hold:
            self.hold.wait(20)
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE, "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
        return raw_upstream.sized(json.dumps(body), extra=cors), "keep"

    def calls(self):
        return len(self.server.requests)


def ask(gateway, prompt, origin=None, **headers):
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
    if origin:
        headers["Origin"] = origin
    return idem_test.request(gateway.url, CHAT, body=body, headers=headers)


def allowed(answer):
    assert len(answer.headers.get_all("access-control-allow-origin", [])) <= 1, answer.headers
    return answer["Access-Control-Allow-Origin"]


def test_preflights_pass_through():
    upstream = Upstream()
    gateway = idem_test.serve(upstream.server.url)
    for _ in range(2):
        answer = idem_test.request(gateway.url, CHAT, "OPTIONS", headers={
            "Origin": ALLOWED[0], "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-stainless-os"})
        assert (answer.status, allowed(answer), answer["Access-Control-Allow-Headers"]) == (200, ALLOWED[0], "x-stainless-os")
    assert upstream.calls() == 2


def test_a_stored_answer_is_readable_by_whoever_may_read_it():
    for store in ("memory", "embedded"):
        upstream = Upstream()
        gateway = idem_test.serve(upstream.server.url, store=store)
        ask(gateway, "p")
        for origin in ALLOWED:
            first = ask(gateway, "p", origin)  # the upstream has to be asked what it lets this origin read
            assert (first["X-Cache"], allowed(first)) == ("MISS", origin) and "origin_unknown" in first["Cache-Status"], first.headers
            again = ask(gateway, "p", origin)
            assert (again["X-Cache"], allowed(again), again["Access-Control-Allow-Credentials"]) == ("HIT", origin, "true"), again.headers
            assert "Origin" in again.headers.get_all("vary", []), again.headers
            new = ask(gateway, f"new {origin}", origin)
            assert (new["X-Cache"], allowed(new)) == ("MISS", origin)
        stranger = "https://other.example"
        ask(gateway, "p", stranger)
        again = ask(gateway, "p", stranger)
        assert (again["X-Cache"], allowed(again)) == ("HIT", None)
        plain = ask(gateway, "p")
        assert (plain["X-Cache"], allowed(plain)) == ("HIT", None)
        # What one origin's request filled is not told to another as if it were its own.
        assert allowed(ask(gateway, f"new {ALLOWED[0]}", ALLOWED[1])) == ALLOWED[1]
        gateway.stop()


def test_those_who_follow_are_told_their_own():
    upstream = Upstream()
    gateway = idem_test.serve(upstream.server.url)
    for origin in ALLOWED:
        ask(gateway, "warm", origin)
    upstream.hold = threading.Event()
    answers = {}
    threads = [threading.Thread(target=lambda o=o: answers.__setitem__(o, ask(gateway, "shared", o))) for o in (*ALLOWED, None)]
    for thread in threads:
        thread.start()
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flight_followers") >= 3, "all follow", 20)
    upstream.hold.set()
    for thread in threads:
        thread.join()
    assert [allowed(answers[o]) for o in ALLOWED] == list(ALLOWED), [answers[o].headers for o in ALLOWED]
    assert sorted(a["X-Cache"] for a in answers.values()) == ["COALESCED", "COALESCED", "MISS"]


def test_our_own_errors_are_readable():
    upstream = Upstream()
    gateway = idem_test.serve(upstream.server.url)
    ask(gateway, "p", ALLOWED[0])
    refused = ask(gateway, "never asked", ALLOWED[0], **{"Cache-Control": "only-if-cached"})
    assert (refused.status, allowed(refused)) == (504, ALLOWED[0]), refused.headers


idem_test.main(globals())
