#!/usr/bin/env python3
"""The choice of a replica, computed by another implementation: the published ranks, and what two gateways do."""
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support" / "python"), str(HERE / "reference")]
import idem_test  # noqa: E402
import raw_upstream  # noqa: E402

ANSWER = raw_upstream.sized(json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}))


def reference():
    try:
        import idem_pin  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise idem_test.Skip(f"{error}") from None
    return idem_pin


def test_the_published_ranks():
    pin = reference()
    cases = json.loads((HERE.parent / "golden" / "pin.json").read_text())["cases"]
    assert len(cases) >= 8
    for case in cases:
        assert pin.ranked(case["request"], {r["id"]: r["weight"] for r in case["replicas"]}) == case["order"], case


def test_two_gateways_choose_as_the_reference_does():
    pin = reference()
    upstream = raw_upstream.RawUpstream(lambda request: (ANSWER, "keep"))
    weights = {"a": 1, "b": 3, "a-rather-long-name-of-a-replica-with-40-bytes": 2, "off": 0}
    gateways = []
    for names in (list(weights), list(reversed(weights))):
        path = os.path.join(idem_test.scratch(), "idem.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": [
                {"id": name, "weight": weights[name], "url": f"{upstream.url}/{i}"} for i, name in enumerate(names)]}]}, file)
        gateways.append(idem_test.serve(config=path))
    chosen = set()
    for i in range(40):
        body = {"model": "m", "messages": [{"role": "user", "content": f"question {i}"}]}
        answers = [idem_test.request(gateway.url, "/v1/chat/completions", body=body) for gateway in gateways]
        expected = pin.ranked(answers[0]["idem-request"], weights)[0]
        assert [answer["idem-replica"] for answer in answers] == [expected] * 2, (i, expected)
        chosen.add(expected)
    assert chosen == {name for name, weight in weights.items() if weight}


idem_test.main(globals())
