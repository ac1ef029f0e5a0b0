#!/usr/bin/env python3
"""A policy that changes bodies: what it makes of a prompt is the key and is what the upstream gets, byte for byte."""
import gzip
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

CHAT = "/v1/chat/completions"
TIDY = {"nfc": True, "collapse_whitespace": True, "trim": True, "usage": "keep", "strip_pointers": ["/trace_id", "/messages/*/name"]}
SPELLED = '{"trace_id":"%d","model":"m",  "messages":[{"role":"user","name":"n","content":"  cafe\u0301\\n\\n au\u3000lait "}],"stop":" x "}'
FORWARDED = '{"model":"m",  "messages":[{"role":"user","content":"caf\u00e9 au lait"}],"stop":" x "}'.encode()


class Upstream:
    def __init__(self):
        self.server = raw_upstream.RawUpstream(self.answer)

    def answer(self, _):
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": f"answer {len(self.server.requests)}"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        return raw_upstream.sized(json.dumps(body)), "keep"

    def last(self):
        """(head in lower case, body) of the request that came last."""
        head, _, body = self.server.requests[-1].partition(b"\r\n\r\n")
        return head.lower(), body


def gateway_of(upstream, policy, file=None):
    file = file or os.path.join(idem_test.scratch(), "idem.yaml")
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"upstreams": [{"name": "u", "replicas": [{"url": upstream.server.url}]}], "policies": {"own": policy},
                   "cache": {"store": "memory"}, "routes": [{"match": {"path": "/v1/chat/*", "header": {"x-as-is": "yes"}}, "upstream": "u"},
                                                            {"upstream": "u", "policy": "own"}]}, out)
    return idem_test.serve(config=file)


def ask(gateway, body, **headers):
    body = body if isinstance(body, bytes) else body.encode()
    answer = idem_test.request(gateway.url, CHAT, body=body, headers={"Content-Type": "application/json", **headers})
    assert answer.status == 200, answer.body
    return answer["X-Cache"], answer.body


def test_the_upstream_gets_what_the_key_is_made_of():
    upstream = Upstream()
    gateway = gateway_of(upstream, TIDY)
    cache, first = ask(gateway, SPELLED % 1, **{"Content-MD5": "x", "Content-Digest": "y"})
    assert cache == "MISS"
    head, body = upstream.last()
    assert body == FORWARDED, body
    assert f"content-length: {len(FORWARDED)}\r".encode() in head + b"\r" and b"digest" not in head and b"content-md5" not in head, head
    assert ask(gateway, SPELLED % 2) == ("HIT", first)
    assert ask(gateway, FORWARDED) == ("HIT", first)
    assert ask(gateway, SPELLED % 2) == ("HIT", first), "again, by its very bytes"
    assert ask(gateway, (SPELLED % 1).replace("lait", "Lait"))[0] == "MISS"
    # Under another policy the same bytes are another request, and go as they are.
    cache, other = ask(gateway, FORWARDED, **{"x-as-is": "yes"})
    assert cache == "MISS" and other != first
    assert ask(gateway, SPELLED % 1, **{"x-as-is": "yes"})[0] == "MISS"
    assert upstream.last()[1] == (SPELLED % 1).encode()


def test_streams_and_usage():
    upstream = Upstream()
    gateway = gateway_of(upstream, {**TIDY, "usage": "inject"})
    idem_test.request(gateway.url, CHAT, body=b'{"model":"m","stream":true,"trace_id":1,"messages":[{"role":"user","content":" a  b "}]}')
    wanted = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "a b"}], "stream_options": {"include_usage": True}}
    assert json.loads(upstream.last()[1]) == wanted, upstream.last()


def test_an_encoded_body_goes_decoded_where_it_has_to_change_and_only_there():
    upstream = Upstream()
    gateway = gateway_of(upstream, TIDY)
    assert ask(gateway, gzip.compress((SPELLED % 1).encode()), **{"Content-Encoding": "gzip"})[0] == "MISS"
    head, body = upstream.last()
    assert body == FORWARDED and b"content-encoding" not in head, (head, body)
    assert ask(gateway, SPELLED % 3)[0] == "HIT"
    as_it_is = gzip.compress(FORWARDED.replace(b"lait", b"tea"))
    assert ask(gateway, as_it_is, **{"Content-Encoding": "gzip"})[0] == "MISS"
    head, body = upstream.last()
    assert body == as_it_is and b"content-encoding: gzip" in head, head


def test_what_is_not_cached_goes_as_it_came():
    upstream = Upstream()
    gateway = gateway_of(upstream, TIDY)
    for body in (SPELLED % 1)[:-1] + ',"store":true}', (SPELLED % 1)[:-1], (SPELLED % 1)[:-1] + ',"stop":1}':
        answer = idem_test.request(gateway.url, CHAT, body=body.encode())
        assert answer["X-Cache"] == "BYPASS", answer.headers
        assert upstream.last()[1] == body.encode()


def test_key_shows_both():
    upstream = Upstream()
    file = os.path.join(idem_test.scratch(), "idem.yaml")
    gateway = gateway_of(upstream, TIDY, file)
    gateway.stop()
    done = subprocess.run([idem_test.BINARY, "key", "-o", "json", "-c", file], input=(SPELLED % 1).encode(), capture_output=True, check=True)
    said = json.loads(done.stdout)
    assert said["forwarded"].encode() == FORWARDED and "caf\u00e9 au lait" in said["canonical"], said
    table = subprocess.run([idem_test.BINARY, "key", "-c", file], input=(SPELLED % 1).encode(), capture_output=True, check=True).stdout
    assert b"\nforwarded  " + FORWARDED + b"\n" in table, table
    plain = subprocess.run([idem_test.BINARY, "key"], input=(SPELLED % 1).encode(), capture_output=True, check=True).stdout
    assert b"forwarded" not in plain, plain


def test_check_names_what_is_wrong():
    file = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(file, "w", encoding="utf-8") as out:
        out.write("upstreams: [{name: u, replicas: [{url: 'http://127.0.0.1:1'}]}]\npolicies:\n  own:\n    strip_pointers: [user, /a/**/b, /model, /messages/0/name]\n"
                  "  plain: {extends: bypass, trim: true}\n")
    done = subprocess.run([idem_test.BINARY, "check", file], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    for words in ('"user" does not begin with / or **/', '"/a/**/b" has ** elsewhere', '"/model" would take out', '"/messages/0/name" names a member by a number',
                  "a policy that extends bypass forwards bodies as they are"):
        assert words in said, (words, said)
    assert f"{file}:4:21: policies.own.strip_pointers: " in said, said


idem_test.main(globals())
