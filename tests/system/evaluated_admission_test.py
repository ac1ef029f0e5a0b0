#!/usr/bin/env python3
"""Upstreams that are evaluated at length before they are admitted, and from time to time after that."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
from replicas_test import STRICT, ask, gateway_for, merged, replicas, until

EVALUATION = {"admission": {"runs": 2, "patience": "500ms", "evaluation": {"interval": "1h", "runs": 6, "neighbours": 3}}}
INVARIANT = {"concurrency": {"mode": "batch_invariant"}}


def test_a_replica_whose_answers_depend_on_the_batch_is_found_in_company():
    good = idem_test.simulate("--engine", "vllm", "--latency", "5")
    odd = idem_test.simulate("--engine", "vllm", "--latency", "5", "--batch-sensitive")
    plain = gateway_for("vllm", {"good": good.url, "odd": odd.url}, INVARIANT, **STRICT)
    for each in ("good", "odd"):
        until(plain, each, "admitted")  # alone it answers like the other one
    plain.stop()
    gateway = gateway_for("vllm", {"good": good.url, "odd": odd.url}, merged(EVALUATION, INVARIANT), **STRICT)
    until(gateway, "good", "admitted", deadline=60)
    until(gateway, "odd", "quarantined", deadline=60)
    found = replicas(gateway)
    assert found["odd"]["why"] in ("output_flipped", "output_differs") and "beside other calls" in found["odd"]["detail"], found["odd"]
    assert found["good"]["runs"] == 12, found["good"]
    assert "runs=12; bound=0.2209" in ask(gateway)["Idem-Guarantee"], ask(gateway).headers
    assert "12 of 12 runs of each golden prompt, 6 of them beside 3 other calls" in gateway.output()
    assert good.stats()["concurrency"]["peak"] > 1


def test_a_serial_replica_is_evaluated_one_call_at_a_time():
    engine = idem_test.simulate("--engine", "llamacpp")
    gateway = gateway_for("llamacpp", {"a": engine.url}, EVALUATION, **STRICT)
    until(gateway, "a", "admitted", deadline=60)
    assert replicas(gateway)["a"]["runs"] == 6
    assert engine.stats()["concurrency"]["peak"] == 1, engine.stats()


def test_it_comes_again_when_its_time_is_due():
    engine = idem_test.simulate("--engine", "vllm")
    again = {"admission": {"evaluation": {"interval": "1s", "runs": 3, "neighbours": 2}}}
    gateway = gateway_for("vllm", {"a": engine.url}, merged(again, INVARIANT), **STRICT)
    until(gateway, "a", "admitted")
    idem_test.wait_until(lambda: gateway.output().count("replica_evaluated") >= 3, "it was evaluated again and again", 30)
    assert replicas(gateway)["a"]["state"] == "admitted"
    time.sleep(0.1)
    calls = engine.stats()["calls"]
    gateway.stop()
    assert engine.stats()["concurrency"]["current"] == 0 and engine.stats()["calls"] >= calls


if __name__ == "__main__":
    idem_test.main(globals())
