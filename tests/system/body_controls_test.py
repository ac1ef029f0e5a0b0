#!/usr/bin/env python3
"""LiteLLM's `cache` object in the body: it means what our fields mean, is in no key, and reaches no upstream."""
import gzip
import itertools
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class Upstream:
    """Every answer differs, so that a shared entry shows in the body."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.server = raw_upstream.RawUpstream(self.answer)

    def answer(self, request):
        text = f"answer {next(self.numbers)}"
        path = request.split(b" ", 2)[1]
        if path == b"/v1/completions":
            body = {"id": "c", "object": "text_completion", "created": 1, "model": "m", "usage": USAGE,
                    "choices": [{"index": 0, "text": text, "finish_reason": "stop", "logprobs": None}]}
        elif path == b"/v1/embeddings":
            body = {"object": "list", "model": text, "usage": USAGE, "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}]}
        elif path == b"/v1/responses":
            body = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "error": None, "output": [
                {"id": "o", "type": "message", "role": "assistant", "status": "completed",
                 "content": [{"type": "output_text", "text": text, "annotations": []}]}]}
        else:
            body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE,
                    "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
        return raw_upstream.sized(json.dumps(body)), "keep"

    def last(self):
        return self.server.requests[-1].partition(b"\r\n\r\n")[2]

    def calls(self):
        return len(self.server.requests)


def body_of(path, cache=None, **more):
    asks = {"/v1/completions": {"prompt": "a"}, "/v1/embeddings": {"input": "a"}, "/v1/responses": {"input": "a"}}
    body = {"model": "m", **asks.get(path, {"messages": [{"role": "user", "content": "a"}]}), **more}
    return json.dumps(body if cache is None else {"cache": cache, **body}, separators=(",", ":")).encode()


def ask(gateway, cache=None, path="/v1/chat/completions", headers=None, **more):
    return idem_test.request(gateway.url, path, body=body_of(path, cache, **more), headers=headers)


def start():
    upstream = Upstream()
    return upstream, idem_test.serve(upstream.server.url)


def test_every_dialect_reads_it_and_no_upstream_sees_it():
    upstream, gateway = start()
    for path in ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"):
        first = ask(gateway, {"ttl": 60}, path)
        assert (first.status, first["X-Cache"]) == (200, "MISS"), (path, first.body)
        assert upstream.last() == body_of(path), (path, upstream.last())
        assert ask(gateway, None, path).body == first.body, "the member is in no key"
        calls = upstream.calls()
        fresh = ask(gateway, {"no-cache": True}, path)
        assert fresh["X-Cache"] != "HIT" and fresh.body != first.body and upstream.calls() == calls + 1, (path, fresh.headers)
        assert upstream.last() == body_of(path)
        assert ask(gateway, {"no-cache": False}, path).body == first.body, "a fresh answer changes nothing stored"


def test_no_store_and_use_cache():
    for cache in ({"no-store": True}, {"use-cache": False}):
        upstream, gateway = start()
        assert ask(gateway, cache)["X-Cache"] != "HIT"
        assert ask(gateway)["X-Cache"] == "MISS", "nothing was stored"
        assert upstream.calls() == 2


def test_lifetime_age_and_namespace():
    upstream, gateway = start()
    mine = ask(gateway, {"namespace": "mine"})
    assert mine["X-Cache"] == "MISS"
    assert ask(gateway, {"namespace": "mine"}).body == mine.body
    assert ask(gateway, headers={"Idem-Namespace": "mine"}).body == mine.body, "one name, however it is said"
    assert ask(gateway).body != mine.body
    assert ask(gateway, {"namespace": "mine"}, headers={"Idem-Namespace": "other"}).body != mine.body, "the field holds"
    for spelling in ("s-maxage", "s-max-age"):
        calls = upstream.calls()
        assert ask(gateway, {spelling: 3600})["X-Cache"] == "HIT"
        assert ask(gateway, {spelling: 0})["X-Cache"] != "HIT" and upstream.calls() == calls + 1
    upstream, gateway = start()
    status = ask(gateway, {"ttl": 60})
    assert ask(gateway)["Cache-Status"].startswith("idem; hit; ttl=") and status.status == 200
    assert 0 < int(ask(gateway)["Cache-Status"].split("ttl=")[1].split(";")[0]) <= 60


def test_malformed_is_refused_by_name():
    upstream, gateway = start()
    for cache, name in (({"ttl": "soon"}, "cache.ttl"), ({"no-cache": "yes"}, "cache.no-cache"), ({"s-maxage": -1}, "cache.s-maxage"),
                        ({"namespace": "a b"}, "cache.namespace"), ("always", "cache does not parse")):
        refused = ask(gateway, cache)
        error = refused.json()["error"]
        assert refused.status == 400 and error["code"] == "bad_control" and name in error["message"], (cache, refused.body)
    assert upstream.calls() == 0
    assert ask(gateway, {"type": "exact_match", "supported": [1]}).status == 200, "what is not known is ignored"


def test_it_is_taken_out_of_what_is_not_cached_too():
    upstream, gateway = start()
    bypassed = ask(gateway, {"no-cache": True}, store=True)
    assert bypassed["X-Cache"] == "BYPASS" and upstream.last() == body_of("/v1/chat/completions", store=True), upstream.last()
    encoded = idem_test.request(gateway.url, "/v1/chat/completions", body=gzip.compress(body_of("/v1/chat/completions", {"ttl": 60})),
                                headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})
    assert encoded.status == 200 and upstream.last() == body_of("/v1/chat/completions"), upstream.last()
    assert b"content-encoding" not in upstream.server.requests[-1].lower()


idem_test.main(globals())
