#!/usr/bin/env python3
"""Idempotency-Key: a name that a client gives its request is good for that request alone, for a day, on every gateway of a store."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test


def ask(gateway, content, key, **headers):
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    return idem_test.request(gateway.url, "/v1/chat/completions", body=body, headers={"Idempotency-Key": key, **headers})


def check_names(gateway, other):
    first = ask(gateway, "one", "name")
    assert (first.status, first["X-Cache"]) == (200, "MISS"), first
    again = ask(other, "one", '"name"')
    assert (again.status, again["X-Cache"], again.body) == (200, "HIT", first.body), again
    for client in (gateway, other):
        refused = ask(client, "two", "name")
        assert refused.status == 422 and b"idempotency_mismatch" in refused.body, refused
        assert b"24 hours" in refused.body, refused.body
    # Another scope's name is another name; and without a name nothing is bound.
    assert ask(gateway, "two", "name", Authorization="Bearer x").status == 200
    assert ask(gateway, "two", "name2").status == 200
    assert ask(gateway, "one", "name2").status == 422
    # The stored answer is not touched by any of it.
    assert ask(gateway, "one", "name").body == first.body


def test_in_one_process():
    gateway = idem_test.serve(idem_test.simulate().url, store="memory")
    check_names(gateway, gateway)


def test_in_the_embedded_store_across_a_restart():
    engine, data = idem_test.simulate(), idem_test.scratch("data-")
    gateway = idem_test.serve(engine.url, store="embedded", data=data)
    check_names(gateway, gateway)
    gateway.stop()
    gateway = idem_test.serve(engine.url, store="embedded", data=data)
    assert ask(gateway, "two", "name").status == 422
    assert ask(gateway, "one", "name")["X-Cache"] == "HIT"


def test_in_redis_by_all_gateways():
    engine, store = idem_test.simulate(), idem_test.redis_server()
    settings = ("--redis", store.url)
    check_names(*(idem_test.serve(engine.url, *settings, store="redis") for _ in range(2)))
    # Without the store nothing can be checked: that is counted, and fails nobody.
    gateway = idem_test.serve(engine.url, *settings, store="redis")
    assert ask(gateway, "three", "gone").status == 200
    store.stop()
    assert ask(gateway, "four", "gone").status == 200
    assert 'operation="bind"' in idem_test.request(gateway.admin, "/metrics").body.decode()


def test_a_name_that_is_none():
    gateway = idem_test.serve(idem_test.simulate().url, store="memory")
    refused = ask(gateway, "one", "a b")
    assert refused.status == 400 and b"Idempotency-Key does not parse" in refused.body, refused


idem_test.main(globals())
