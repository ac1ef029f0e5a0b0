#!/usr/bin/env python3
"""Receipts: signed when an answer is stored, verified offline, a chain of what was served with signed heads elsewhere."""
import base64
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test

CHAT = "/v1/chat/completions"
ASKS = {"Idem-Receipt": "request"}


def audited(upstream, *options, policy=None, store="embedded", data=None, **top):
    """A gateway whose default route issues receipts."""
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": store, **top.pop("cache", {})},
                   "upstreams": [{"name": "up", "engine": "vllm", "probe": "on", "environment": {"interval": "200ms"},
                                  "admission": {"health_interval": "100ms"}, "replicas": [{"id": "a", "url": upstream}]}],
                   "policies": {"audit": policy or {"extends": "strict", "receipts": True}},
                   "routes": [{"upstream": "up", "policy": "audit"}], **top}, file)
    gateway = idem_test.serve(None, *options, config=path, data=data)
    gateway.file = path
    if (policy or {}).get("extends", "strict") == "strict":
        idem_test.wait_until(lambda: idem_test.admin(gateway, "/admin/v1/replicas").json()["upstreams"][0]["replicas"][0]["state"]
                             == "admitted", "an admitted replica", 20)
    return gateway


def ask(gateway, prompt, headers=None, **more):
    answer = idem_test.request(gateway.url, CHAT, headers=headers or {},
                               body={"model": "m", "messages": [{"role": "user", "content": prompt}], **more})
    assert answer.status == 200, answer.body
    return answer


def command(*words, code=0):
    done = subprocess.run([idem_test.BINARY, "receipt", *map(str, words)], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == code, done
    return done.stdout + done.stderr


def folder(gateway):
    return pathlib.Path(gateway.data) / "receipts"


def receipt_of(gateway, answer):
    got = idem_test.admin(gateway, f"/admin/v1/entries/{answer['Idem-Key']}/receipt")
    assert got.status == 200, got.body
    return got.body


def keep(name, content):
    path = pathlib.Path(idem_test.scratch()) / name
    path.write_bytes(content)
    return path


def lines_of(gateway, name="chain.jsonl"):
    return (folder(gateway) / name).read_bytes().decode().splitlines()


def bodies(gateway, kind):
    return [b for b in (json.loads(line)["body"] for line in lines_of(gateway)) if b["type"] == kind]


def test_a_receipt_says_what_was_answered_and_verifies_with_the_public_key_alone():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = audited(engine.url)
    answer = ask(gateway, "p")
    text = receipt_of(gateway, answer)
    said = json.loads(text)["statement"]
    assert said["request"] == answer["Idem-Request"] and said["entry"]["key"] == answer["Idem-Key"], said
    assert said["epoch"] == answer["Idem-Epoch"] and said["environment"]["id"] == answer["Idem-Environment"], said
    assert said["output"] == answer["Idem-Digest"] and said["replica"] == "a" and said["policy"] == "audit", said
    assert {"name", "provenance", "value"} == set(said["environment"]["facts"][0]), said
    assert said["guarantee"]["level"] in ("none", "replica") and said["prompt_tokens"]["count"] > 0, said
    # Away from the gateway: three files and the program.
    file, key, entry = keep("receipt.json", text), keep("key.pem", (folder(gateway) / "public-keys.pem").read_bytes()), keep("answer", answer.body)
    assert "good" in command("verify", file, "--public-key", key, "--entry", entry)
    assert (folder(gateway) / "key.pem").stat().st_mode & 0o777 == 0o600
    # Whoever has another key learns that, and so does whoever has another answer.
    command("key", "create", key.with_name("other.pem"))
    other = keep("other-public.pem", command("key", "public", key.with_name("other.pem")).encode())
    assert "not among the public keys" in command("verify", file, "--public-key", other, code=1)
    assert "not those that were signed" in command("verify", file, "--public-key", key, "--entry", keep("x", answer.body + b" "), code=1)
    command("verify", file, "--public-key", key, "--entry", keep("x", answer.body + b" "), "--normalised")
    assert "not the one that was signed" in command("verify", file, "--public-key", key, "--entry", keep("x", b"other"), "--normalised", code=1)


def test_whoever_asks_gets_the_receipt_with_the_answer():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = audited(engine.url)
    for _ in range(2):  # a miss, then a hit
        answer = ask(gateway, "p", ASKS)
        assert base64.b64decode(answer["Idem-Receipt"]) == receipt_of(gateway, answer)
    assert answer["X-Cache"] == "HIT"
    assert ask(gateway, "p")["Idem-Receipt"] is None
    assert ask(gateway, "p", {"Idem-Receipt": "yes"})["Idem-Receipt"] is None


def test_every_answer_given_is_in_the_chain_and_a_head_of_it_elsewhere():
    engine = idem_test.simulate("--engine", "vllm")
    heads = pathlib.Path(idem_test.scratch()) / "heads.jsonl"
    gateway = audited(engine.url, receipts={"heads_file": str(heads), "interval": "100ms"})
    for prompt in ("a", "a", "b", "a"):
        ask(gateway, prompt)
    ask(gateway, "s", stream=True)
    idem_test.wait_until(lambda: len(bodies(gateway, "served")) == 5, "five records")
    # Who asks before the store has answered joins the flight.
    outcomes = [b["outcome"].replace("COALESCED", "HIT") for b in bodies(gateway, "served")]
    assert outcomes == ["MISS", "HIT", "MISS", "HIT", "MISS"], outcomes
    assert len(bodies(gateway, "issued")) == 3
    # They are counted once they are written.
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_receipts_issued_total") == 3, "three are counted")
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_receipts_served_total") == 5, "five are counted")
    covered = lambda: json.loads(command("audit", folder(gateway) / "chain.jsonl", "--head", heads, "--public-key",
                                         folder(gateway) / "public-keys.pem", "-o", "json"))
    idem_test.wait_until(lambda: covered()["covered"] == 9, "a head of all of it")
    chain, key = folder(gateway) / "chain.jsonl", folder(gateway) / "public-keys.pem"
    assert gateway.stop() == 0
    assert bodies(gateway, "closed")
    assert "10 lines, 10 of them covered" in command("audit", chain, "--head", heads, "--public-key", key)
    # A line less, wherever it was, is noticed; so is the last one.
    whole = chain.read_bytes().splitlines(keepends=True)
    for gone in range(len(whole)):
        copy = keep("chain.jsonl", b"".join(whole[:gone] + whole[gone + 1:]))
        told = command("audit", copy, "--head", heads, "--public-key", key, code=1)
        assert ("lines at its end are missing" in told) == (gone == len(whole) - 1), told
    # Files that are not there, or are something else, are no good ones.
    assert "cannot read" in command("audit", chain, "--head", "/nowhere", "--public-key", key, code=1)
    assert "no head is one of this chain" in command("audit", chain, "--head", keep("none", b""), "--public-key", key, code=1)


def test_a_killed_gateway_leaves_a_chain_that_goes_on():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = audited(engine.url)
    ask(gateway, "a")
    idem_test.wait_until(lambda: len(bodies(gateway, "served")) == 1, "a record")
    gateway.kill()
    chain = folder(gateway) / "chain.jsonl"
    with open(chain, "ab") as file:
        file.write(b'{"body":{"fill":"torn')
    again = audited(engine.url, data=gateway.data)
    ask(again, "a")
    idem_test.wait_until(lambda: len(bodies(again, "served")) == 2, "another record")
    resumed = bodies(again, "resumed")
    assert len(resumed) == 1 and resumed[0]["torn_bytes"] == 21, resumed
    assert "the last line was not finished" in again.output()
    assert again.stop() == 0
    told = command("audit", chain, "--head", folder(again) / "heads.jsonl", "--public-key", folder(again) / "public-keys.pem")
    assert "good" in told and "ended without closing the chain 1 times" in told, told


def test_a_receipt_outlives_its_entry_and_its_key():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = audited(engine.url)
    answer = ask(gateway, "p")
    before = receipt_of(gateway, answer)
    assert idem_test.admin(gateway, f"/admin/v1/entries/{answer['Idem-Key']}", "DELETE").status == 200
    assert receipt_of(gateway, answer) == before
    assert gateway.stop() == 0
    new = os.path.join(gateway.data, "new-key.pem")
    again = audited(engine.url, data=gateway.data, receipts={"key_file": new})
    after = receipt_of(again, ask(again, "p"))
    signers = {json.loads(text)["statement"]["signer"] for text in (before, after)}
    assert len(signers) == 2
    for text in (before, after):
        command("verify", keep("r", text), "--public-key", folder(again) / "public-keys.pem")
    assert again.stop() == 0
    command("audit", folder(again) / "chain.jsonl", "--head", folder(again) / "heads.jsonl", "--public-key",
            folder(again) / "public-keys.pem")


def test_heads_go_to_redis_or_to_standard_output():
    engine = idem_test.simulate("--engine", "vllm")
    redis = idem_test.redis_server()
    gateway = audited(engine.url, store="redis", cache={"redis": {"urls": [redis.url]}}, receipts={"sink": "redis", "interval": "100ms"})
    ask(gateway, "p")
    idem_test.wait_until(lambda: len(bodies(gateway, "served")) == 1, "a record")
    chain = json.loads(lines_of(gateway)[0])["body"]["chain"]
    assert gateway.stop() == 0
    stored = redis.command("GET", f"idem:record:{{receipts/head/{chain}}}")
    head = keep("head", stored[stored.index(b"{"):].strip())
    command("audit", folder(gateway) / "chain.jsonl", "--head", head, "--public-key", folder(gateway) / "public-keys.pem")

    gateway = audited(engine.url, receipts={"sink": "stdout"})
    ask(gateway, "p")
    assert gateway.stop() == 0
    heads = keep("heads", "\n".join(line for line in gateway.output().splitlines() if line.startswith('{"signature"')).encode())
    command("audit", folder(gateway) / "chain.jsonl", "--head", heads, "--public-key", folder(gateway) / "public-keys.pem")


def test_without_the_policy_nothing_is_written():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = audited(engine.url, policy={"extends": "relaxed"})
    answer = ask(gateway, "p", ASKS)
    assert answer["Idem-Receipt"] is None
    assert not folder(gateway).exists()
    got = idem_test.admin(gateway, f"/admin/v1/entries/{'0' * 64}/receipt")
    assert got.status == 409, (got.status, got.body)


if __name__ == "__main__":
    idem_test.main(globals())
