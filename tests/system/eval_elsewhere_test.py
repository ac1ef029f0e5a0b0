#!/usr/bin/env python3
"""`idem eval` where more than one server is asked: through a gateway, and replicas."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
from evaluation import cells, evaluate, failed, louder, prompts, relay

FEW = '{"name": "one", "prompt": "Why do rivers bend?", "max_tokens": 24}\n{"name": "two", "prompt": "用两句话说明。", "max_tokens": 24}\n'


def test_an_answer_through_a_gateway_is_the_engines_and_not_a_stored_one():
    engine = idem_test.simulate("--engine", "vllm", "--latency", "2")
    gateway = idem_test.serve(engine.url)
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold,gateway", "--runs", "40", "--p-max", "0.2"]
    for _ in range(2):  # whatever the first left in the gateway
        before = engine.stats()["calls"]
        _, report, out = evaluate(engine, *common, "--gateway", gateway.url + "/v1", status=0)
        assert cells(report)["gateway"]["runs"] == 2 * 2 * 40 and not report["skipped"], report
        # 2 prompts: one call each to try, 40 alone, 40 straight and 40 through the gateway; and the control.
        assert engine.stats()["calls"] - before == 2 * (1 + 3 * 40) + 10, engine.stats()
    runs = [r for r in map(json.loads, open(os.path.join(out, "runs.jsonl"), encoding="utf-8")) if r.get("variant")]
    assert {(r["variant"], r["form"]) for r in runs} == {(w, f) for w in ("direct", "gateway") for f in ("json", "sse")}
    first = [next(r["variant"] for r in runs if r["run"] == n and r["prompt"] == "one") for n in range(40)]
    assert first.count("direct") == 20, first


def test_a_gateway_that_changes_an_answer_or_gives_a_stored_one_is_seen():
    engine = idem_test.simulate("--engine", "vllm")
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold,gateway", "--runs", "40", "--p-max", "0.2"]
    _, report, _ = evaluate(engine, *common, "--gateway", relay(engine.url, louder).url, status=1)
    assert failed(report) == {"gateway"}, report["reasons"]
    flips = {(r["prompt"], r["variant"]): r["flips"] for r in report["results"] if r["cell"] == "gateway"}
    assert flips == {("one", "direct"): 0, ("two", "direct"): 0, ("one", "gateway"): 20, ("two", "gateway"): 20}, flips

    def stored(request):
        body = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}]})
        assert b"cache-control: no-cache" in request.lower()
        return raw_upstream.sized(body, extra="X-Cache: HIT\r\n"), "keep"

    _, report, _ = evaluate(engine, *common, "--gateway", raw_upstream.RawUpstream(stored).url, status=3)
    assert any(why.startswith("gateway: 2 prompts have fewer runs") for why in report["reasons"]), report["reasons"]
    wrong, _, _ = evaluate(engine, "--gateway", "ftp://x", status=2)
    assert "--gateway" in wrong.stderr, wrong.stderr


def test_replicas_answer_alike_or_are_named():
    engine, same = idem_test.simulate("--engine", "vllm"), idem_test.simulate("--engine", "vllm")
    other = relay(engine.url, louder)
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold,replicas", "--p-max", "0.2", "--runs"]
    _, report, out = evaluate(engine, *common, "40", "--replica", same.url, status=0)
    assert cells(report)["replicas"]["runs"] == 2 * 2 * 40 and same.stats()["calls"] == 80, (report, same.stats())
    assert {r["variant"] for r in report["results"] if r["cell"] == "replicas"} == {engine.url, same.url}
    with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
        assert [(r["url"], len(r["environment"])) for r in json.load(file)["replicas"]] == [(engine.url, 64), (same.url, 64)]
    _, report, _ = evaluate(engine, *common, "40", "--replica", same.url, "--replica", other.url, status=1)
    assert failed(report) == {"replicas"} and {r["variant"] for r in report["results"] if r["flips"]} - {""} == {other.url}, report["reasons"]
    # Another version is said, and is no change.
    newer = idem_test.simulate("--engine", "vllm", "--version-string", "9.9.9")
    _, report, _ = evaluate(engine, *common, "40", "--replica", newer.url, status=0)
    assert f"The replica {newer.url} has another environment than the target." in report["reasons"], report["reasons"]
    # One that changes meanwhile is.
    moving = idem_test.simulate("--engine", "vllm", "--latency", "5", "--change-environment-after", "0.6")
    _, report, _ = evaluate(engine, *common, "100", "--replica", moving.url, status=4)
    # Nobody there.
    _, report, _ = evaluate(engine, *common, "40", "--replica", f"http://127.0.0.1:{idem_test.free_port()}", status=3)
    assert any(why.startswith("replicas: 2 prompts have fewer runs") for why in report["reasons"]), report["reasons"]


idem_test.main(globals())
