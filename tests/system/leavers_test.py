"""Clients that leave early say nothing about the replicas; replicas whose answers break do."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

CHAT = "/v1/chat/completions"
ANSWER = json.dumps({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
BEGUN = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n"


def answer(request):
    if b"hang before the head" in request:
        return b"", "keep"
    if b"hang in the body" in request:
        return BEGUN, "keep"
    if b"cut in the body" in request:
        return BEGUN, "fin"
    return raw_upstream.sized(ANSWER), "keep"


def start():
    """A gateway over two replicas, so that one of them could be ejected."""
    upstreams = [raw_upstream.RawUpstream(answer) for _ in range(2)]
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"upstreams": [{"name": "up", "replicas": [{"id": f"r{n}", "url": upstream.url} for n, upstream in enumerate(upstreams)]}],
                   "cache": {"store": "memory"}}, file)
    return idem_test.serve(config=path), upstreams


def chat(prompt):
    return json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": prompt}]}).encode()


def leave(gateway, upstreams, path, what):
    """30 clients, each of which leaves once its request has reached a replica."""
    for n in range(30):
        before = sum(len(upstream.requests) for upstream in upstreams)
        with wire.connect(gateway.url) as connection:
            connection.sendall(wire.post_bytes(path, chat(f"{what} {n}")))
            idem_test.wait_until(lambda b=before: sum(len(u.requests) for u in upstreams) > b, "a replica has it")
            if "body" in what:
                assert connection.recv(100).startswith(b"HTTP/1.1 200")
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_connections", side="client", state="open") == 0, "all left")
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flights") == 0, "no flight is left")


def shares(gateway, upstreams):
    """How many of 40 calls each replica gets."""
    before = [len(upstream.requests) for upstream in upstreams]
    for n in range(40):
        assert wire.post(gateway.url, "/v1/other", b"%d" % n).status == 200
        assert wire.post(gateway.url, CHAT, chat(f"after {n}").replace(b"true", b"false")).status == 200
    return [len(upstream.requests) - b for upstream, b in zip(upstreams, before)]


def check(path, what):
    gateway, upstreams = start()
    leave(gateway, upstreams, path, what)
    assert idem_test.metric(gateway, "idem_upstream_errors_total") == 0
    assert min(shares(gateway, upstreams)) > 0, "a replica was ejected"


def test_cached_calls_left_before_the_head():
    check(CHAT, "hang before the head")


def test_cached_calls_left_in_the_body():
    check(CHAT, "hang in the body")


def test_other_calls_left_before_the_head():
    check("/v1/other", "hang before the head")


def test_other_calls_left_in_the_body():
    check("/v1/other", "hang in the body")


def test_answers_that_break_are_counted_for_all_calls():
    for path in (CHAT, "/v1/other"):
        gateway, _ = start()
        for n in range(10):
            got = wire.post(gateway.url, path, chat(f"cut in the body {n}"))
            assert got.status == 200 and not got.clean, (got.status, got.body)
        idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_upstream_errors_total", reason="framing_incomplete") == 10,
                             f"ten are counted for {path}", 10)


idem_test.main(globals())
