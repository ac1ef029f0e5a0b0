#!/usr/bin/env python3
"""The ledger: what was answered is remembered beyond the entry, changes are told apart, and drift between epochs is a number."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test

CHAT = "/v1/chat/completions"


def body(prompt, **more):
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], "temperature": 0, **more}


def ask(gateway, prompt, **more):
    answer = idem_test.request(gateway.url, CHAT, body=body(prompt, **more))
    assert answer.status == 200, answer.body
    return answer


def epoch(gateway):
    return idem_test.admin(gateway, "/admin/v1/epochs").json()["epochs"][0]["epoch"]


def new_epoch(gateway):
    before = epoch(gateway)
    assert idem_test.admin(gateway, "/admin/v1/epochs", "POST", {"upstream": "default", "reason": "t"}).status == 202
    idem_test.wait_until(lambda: epoch(gateway) != before, "a new epoch")
    return epoch(gateway)


def written(gateway, n):
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_ledger_records_total", result="written") == n,
                         f"{n} records")


def drift(gateway, before, after):
    answer = idem_test.admin(gateway, f"/admin/v1/ledger/drift?from={before}&to={after}")
    assert answer.status == 200, answer.body
    return answer.json()


def ends_with_what_changed(store, *options):
    engine = idem_test.simulate()
    gateway = idem_test.serve(engine.url, "--engine", "generic", *options, store=store)
    first = epoch(gateway)
    for prompt in ("a", "b", "c"):
        ask(gateway, prompt)
    ask(gateway, "a")  # a hit: no fill
    written(gateway, 3)
    for prompt in ("a", "b"):
        key = ask(gateway, prompt)["Idem-Key"]
        assert idem_test.admin(gateway, f"/admin/v1/entries/{key}", "DELETE").status == 200
    second = new_epoch(gateway)
    ask(gateway, "a")
    ask(gateway, "d")
    written(gateway, 5)
    seen = drift(gateway, first, second)
    assert seen["prompts"] == 1 and seen["changed"] == 0 and seen["share"] == 0, seen
    assert seen["only_from"] == 2 and seen["only_to"] == 1, seen
    for unknown in ((first, "0" * 32), ("0" * 32, second)):
        answer = idem_test.admin(gateway, f"/admin/v1/ledger/drift?from={unknown[0]}&to={unknown[1]}")
        assert answer.status == 404 and "0" * 32 in answer.json()["detail"], answer.body
    return engine, gateway


def test_a_prompt_is_remembered_beyond_its_entry():
    ends_with_what_changed("embedded")


def test_the_same_in_redis():
    redis = idem_test.redis_server()
    ends_with_what_changed("redis", "--redis", redis.url)


def test_what_is_sampled_varies_and_is_counted_as_that():
    engine = idem_test.simulate()
    gateway = idem_test.serve(engine.url, store="embedded")
    first = epoch(gateway)
    ask(gateway, "p", temperature=1)
    written(gateway, 1)
    second = new_epoch(gateway)
    ask(gateway, "p", temperature=1)
    written(gateway, 2)
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_output_changes_total", upstream="default", kind="variation") == 1, "it is counted")
    seen = drift(gateway, first, second)
    assert seen["prompts"] == 1 and seen["changed"] == 1 and seen["variations"] == 1, seen


def test_without_a_ledger_it_says_so():
    engine = idem_test.simulate()
    for options, store in ((["--set", "cache.ledger=0"], "embedded"), ([], "memory")):
        gateway = idem_test.serve(engine.url, *options, store=store)
        ask(gateway, "p")
        answer = idem_test.admin(gateway, f"/admin/v1/ledger/drift?from={'0' * 32}&to={'1' * 32}")
        assert answer.status == 409 and "no ledger" in answer.json()["detail"], answer.body
        assert "idem_ledger_records_total{" not in idem_test.request(gateway.admin, "/metrics").body.decode()


if __name__ == "__main__":
    idem_test.main(globals())
