#!/usr/bin/env python3
"""Entries encrypted at rest: nothing is read from files or Redis, and keys are replaced without losing a hit."""
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test

CHAT = "/v1/chat/completions"
OLD, NEW = "old " + "1" * 64, "new " + "2" * 64


def ask(gateway, prompt):
    body = {"model": "model-canary", "messages": [{"role": "user", "content": prompt}]}
    answer = idem_test.request(gateway.url, CHAT, body=body, headers={"Idem-Tags": "tag-canary"})
    assert answer.status == 200, answer.body
    return answer


def hits(gateway, prompt):
    idem_test.wait_until(lambda: ask(gateway, prompt)["X-Cache"] == "HIT", "it is a hit", 5, 0.05)


def key_file(*lines):
    path = os.path.join(idem_test.scratch(), "keys")
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.chmod(path, 0o600)
    return path


def gateway_on(engine, redis, *lines):
    more = ["--set", f"cache.encryption.key_file={key_file(*lines)}"] if lines else []
    return idem_test.serve(engine.url, "--redis", redis.url, "--set", "cache.memory=0", *more, store="redis")


def test_nothing_is_read_at_rest():
    engine = idem_test.simulate()
    options = ["--set", f"cache.encryption.key_file={key_file(OLD)}", "--set", "cache.compression=none"]
    gateway = idem_test.serve(engine.url, *options, store="embedded")
    content = json.loads(ask(gateway, "p").body)["choices"][0]["message"]["content"]
    hits(gateway, "p")
    gateway.stop()
    data = b"".join(f.read_bytes() for f in pathlib.Path(gateway.data).iterdir() if f.name.startswith("idem.db"))
    for canary in (content[:24], "model-canary", "tag-canary"):
        assert canary.encode() not in data, canary
    again = idem_test.serve(engine.url, *options, store="embedded", data=gateway.data)
    assert ask(again, "p")["X-Cache"] == "HIT"


def test_keys_are_replaced_without_losing_a_hit():
    engine, redis = idem_test.simulate(), idem_test.redis_server()
    prompts = []
    for step, (lines, others) in enumerate((((OLD,), (OLD,)), ((OLD, NEW), (OLD,)), ((OLD, NEW), (OLD, NEW)), ((NEW, OLD), (OLD, NEW)),
                                            ((NEW, OLD), (NEW, OLD)))):
        both = [gateway_on(engine, redis, *each) for each in (lines, others)]
        for g in both:
            idem_test.wait_until(lambda g=g: "state_unknown" not in ask(g, "warm")["Cache-Status"], "it caches", 10, 0.05)
        for g in both:
            for prompt in prompts:
                assert ask(g, prompt)["X-Cache"] == "HIT", (step, prompt)
        for n, g in enumerate(both):
            prompts.append(f"{step}-{n}")
            ask(g, prompts[-1])
        for g in both:
            for prompt in prompts:
                hits(g, prompt)
            g.stop()


def test_what_cannot_be_opened_is_left_alone():
    engine, redis = idem_test.simulate(), idem_test.redis_server()
    one = gateway_on(engine, redis, OLD)
    hits(one, "p")
    stored = ask(one, "p")
    name = "idem:{" + stored["Idem-Key"] + "}:e"
    before = redis.command("GET", name)
    for lines in ((NEW,), ()):
        other = gateway_on(engine, redis, *lines)
        idem_test.wait_until(lambda g=other: "entry_unreadable" in ask(g, "p")["Cache-Status"], "it is told", 10, 0.05)
        assert redis.command("GET", name) == before
        other.stop()
    assert ask(one, "p").body == stored.body


def test_a_key_file_that_cannot_be_used_is_named():
    engine = idem_test.simulate()
    for lines, word in ((("old 12",), "64 hexadecimal"), ((OLD, OLD), "twice"), (("",), "no key")):
        try:
            idem_test.serve(engine.url, "--set", f"cache.encryption.key_file={key_file(*lines)}", store="embedded")
            raise SystemError("it started")
        except AssertionError as error:
            assert word in str(error) and "1" * 64 not in str(error), error


if __name__ == "__main__":
    idem_test.main(globals())
