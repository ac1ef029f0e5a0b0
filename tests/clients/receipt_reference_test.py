#!/usr/bin/env python3
"""Receipts, verified by another implementation: the published one, and what a gateway signs."""
import hashlib
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support" / "python"), str(HERE / "reference")]
import idem_test  # noqa: E402

RFC8032 = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n"


def reference():
    try:
        import idem_receipt  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise idem_test.Skip(f"{error}") from None
    return idem_receipt


def test_the_published_receipt():
    check = reference()
    keys = check.keys_of(RFC8032)
    text = (HERE.parent / "golden" / "receipt.json").read_bytes()
    assert check.opened(text, "idem-receipt/1", keys)["signer"] in keys
    for i in range(len(text)):
        for bit in (1, 0x20, 0x80):
            changed = text[:i] + bytes([text[i] ^ bit]) + text[i + 1:]
            assert check.opened(changed, "idem-receipt/1", keys) is None, i


def test_what_a_gateway_signs():
    check = reference()
    engine = idem_test.simulate("--engine", "vllm")
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "policies": {"audit": {"extends": "relaxed", "receipts": True}},
                   "upstreams": [{"name": "up", "engine": "vllm", "replicas": [{"id": "a", "url": engine.url}]}],
                   "routes": [{"upstream": "up", "policy": "audit"}]}, file)
    gateway = idem_test.serve(config=path)
    bodies = {}

    def ask(prompt):
        answer = idem_test.request(gateway.url, "/v1/chat/completions", body={
            "model": "m\u00e9", "messages": [{"role": "user", "content": prompt}], "temperature": 0})
        assert answer.status == 200, answer.body
        if answer["Idem-Key"]:
            bodies[answer["Idem-Key"]] = answer.body
        return answer

    idem_test.wait_until(lambda: ask("first")["X-Cache"] == "HIT", "an answer from the store", 20)
    for prompt in "aba":
        ask(prompt)
    folder = pathlib.Path(gateway.data) / "receipts"
    keys = check.keys_of((folder / "public-keys.pem").read_text())
    for key, body in bodies.items():
        got = idem_test.admin(gateway, f"/admin/v1/entries/{key}/receipt")
        statement = check.opened(got.body, "idem-receipt/1", keys)
        assert statement["entry"]["sha256"] == hashlib.sha256(body).hexdigest(), statement
        assert statement["entry"]["bytes"] == len(body) and statement["model"] == "m\u00e9", statement
    assert gateway.stop() == 0
    lines = (folder / "chain.jsonl").read_bytes().splitlines()
    heads = (folder / "heads.jsonl").read_bytes().splitlines()
    assert check.good_chain(lines, heads, keys)
    for gone in range(len(lines)):
        assert not check.good_chain(lines[:gone] + lines[gone + 1:], heads, keys)


idem_test.main(globals())
