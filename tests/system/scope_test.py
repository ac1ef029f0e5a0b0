#!/usr/bin/env python3
"""Whose answers may be shared: by default one credential, one scope; no credential is a scope of its own."""
import itertools
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire


def counting():
    """An upstream whose every answer differs, so that a shared entry shows in the body."""
    numbers = itertools.count(1)

    def answer(_):
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": f"answer {next(numbers)}"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        return raw_upstream.sized(json.dumps(body)), "keep"

    return raw_upstream.RawUpstream(answer)


def ask(gateway, **headers):
    body = {"model": "m", "messages": [{"role": "user", "content": "same for all"}]}
    answer = idem_test.request(gateway.url, "/v1/chat/completions", body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
    assert answer.status == 200, answer.body
    return answer["X-Cache"], answer.body


def test_each_credential_has_its_own_answers():
    for name in ("Authorization", "x_api_key", "api_key", "x_goog_api_key"):
        server = counting()
        gateway = idem_test.serve(server.url)
        first, own = ask(gateway, **{name: "Bearer one"})
        other, others = ask(gateway, **{name: "Bearer two"})
        assert (first, other) == ("MISS", "MISS") and own != others, name
        assert ask(gateway, **{name: "Bearer one"}) == ("HIT", own)
        assert ask(gateway, **{name: "Bearer two"}) == ("HIT", others)
        gateway.stop()


def test_no_credential_never_gets_what_a_credential_filled():
    gateway = idem_test.serve(counting().url)
    _, filled = ask(gateway, Authorization="Bearer one")
    cache, anonymous = ask(gateway)
    assert cache == "MISS" and anonymous != filled
    assert ask(gateway) == ("HIT", anonymous), "two without a credential share"
    assert ask(gateway, Authorization="Bearer one") == ("HIT", filled)


def test_an_empty_credential_is_not_no_credential():
    gateway = idem_test.serve(counting().url)
    _, filled = ask(gateway, Authorization="Bearer one")
    for value in ("", "Bearer", "Bearer one ", "bearer one"):
        assert ask(gateway, Authorization=value)[1] != filled or value == "Bearer one ", value


def test_an_organisation_and_a_namespace_narrow():
    gateway = idem_test.serve(counting().url)
    _, plain = ask(gateway, Authorization="Bearer one")
    assert ask(gateway, Authorization="Bearer one", OpenAI_Organization="o")[1] != plain
    assert ask(gateway, Authorization="Bearer one", Idem_Namespace="n")[1] != plain
    assert ask(gateway, Authorization="Bearer two", Idem_Namespace="n")[0] == "MISS", "a namespace never widens"


def test_a_refused_credential_gets_nothing_until_it_succeeds_again():
    """Whatever call it was refused on, cacheable or not, and however widely answers are shared."""
    answer = raw_upstream.sized('{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],'
                                '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}')
    refuses = []
    upstream = raw_upstream.RawUpstream(lambda request: (
        raw_upstream.sized('{"error":{}}', status="401 No") if refuses else answer, "keep"))
    body = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
    key = {"Authorization": "Bearer a"}
    for scope in ("credential", "shared"):
        refuses.clear()
        gateway = idem_test.serve(upstream.url, "--set", f"cache.scope={scope}")

        def ask(path="/v1/chat/completions", gateway=gateway):
            return wire.post(gateway.url, path, body, key)

        idem_test.wait_until(lambda ask=ask: ask().headers["x-cache"] == "HIT", "the credential is proven and the answer stored", 5)
        refuses.append(True)
        assert ask("/v1/files").status == 401
        refused = ask()
        assert refused.status == 401 and "credential_unproven" in refused.headers["cache-status"], (scope, refused.headers)
        refuses.clear()
        assert ask().status == 200
        # The success counts once its exchange is over, which is after its caller has the last byte.
        idem_test.wait_until(lambda ask=ask: ask().headers["x-cache"] == "HIT", f"scope {scope} is open again", 5)


idem_test.main(globals())
