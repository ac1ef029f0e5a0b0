#!/usr/bin/env python3
"""What the replicas of an upstream decide together: the epoch's environment, its reference, and when a new epoch is opened."""
import os
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
from replicas_test import STRICT, ask, change_environment, command, epoch, gateway_for, replicas, until

COUNT = iter(range(1 << 30))


def strict(gateway):
    return ask(gateway, f"question {next(COUNT)}")


def relay(engine, change=lambda path, body: body):
    """`engine` with `change` made to what it answers."""
    def answer(request):
        head, _, body = request.partition(b"\r\n\r\n")
        method, path = head.split(b" ")[0].decode(), head.split(b" ")[1].decode()
        told = idem_test.request(engine.url, path, method, body or None)
        return raw_upstream.sized(change(path, told.body), told["Content-Type"], f"{told.status} OK"), "keep"
    return raw_upstream.RawUpstream(answer)


def test_a_server_that_tells_nothing_has_no_say_beside_one_that_does():
    silent = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized("{}"), "keep"))
    engine = idem_test.simulate("--engine", "vllm")
    gateway = gateway_for("vllm", {"silent": silent.url, "good": engine.url}, **STRICT)
    until(gateway, "good", "admitted")
    until(gateway, "silent", "quarantined", "environment_changed")
    answer = strict(gateway)
    assert answer.status == 200, answer.body


def test_where_two_disagree_an_operator_says_whose_environment_it_is():
    engines = {name: idem_test.simulate("--engine", "vllm") for name in "ab"}
    change_environment(engines["b"])
    gateway = gateway_for("vllm", {name: e.url for name, e in engines.items()}, {"admission": {"patience": "300ms"}}, **STRICT)
    until(gateway, "a", "admitted")
    until(gateway, "b", "quarantined", "environment_changed")
    assert strict(gateway).status == 200
    post = lambda **more: idem_test.admin(gateway, "/admin/v1/epochs", "POST", {"upstream": "up", **more})
    refused = post(reason="which?")
    assert refused.status == 409 and '"replica"' in refused.json()["detail"], refused.body
    assert post(replica="c", reason="none").status == 404
    assert post(replica="b", reason="a is old").status == 202
    until(gateway, "b", "admitted")
    until(gateway, "a", "quarantined", "environment_changed")
    assert strict(gateway).status == 200


def test_one_of_two_that_is_dead_at_the_first_start_is_waited_for_and_then_does_without():
    engine = idem_test.simulate("--engine", "vllm")
    with raw_upstream.socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}"
    patient = gateway_for("vllm", {"dead": dead, "good": engine.url}, {"admission": {"patience": "1h"}}, **STRICT)
    until(patient, "good", "probing", "awaiting_reference")
    refused = strict(patient)
    assert refused.status == 503 and "idem replicas attest ID --record" in refused.json()["error"]["message"], refused.body
    command(patient, "attest", "good", "--record")
    until(patient, "good", "admitted")
    gateway = gateway_for("vllm", {"dead": dead, "good": engine.url}, {"admission": {"patience": "500ms"}}, **STRICT)
    until(gateway, "good", "admitted")
    assert strict(gateway).status == 200


def test_an_environment_that_goes_on_changing_does_not_open_epochs_without_end():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = gateway_for("vllm", {"a": engine.url}, {"environment": {"on_change": "new_epoch"}})
    until(gateway, "a", "admitted")
    first, seen = epoch(gateway), set()
    until_then = time.monotonic() + 4
    while time.monotonic() < until_then:
        change_environment(engine)
        time.sleep(0.25)
        seen.add(epoch(gateway))
    assert len(seen - {first}) == 1, seen  # the first change is followed at once
    assert "epoch_held_back" in gateway.output()
    until(gateway, "a", "admitted", deadline=30)  # and the last one when the pause is over


def test_another_fingerprint_is_another_server_although_its_facts_and_answers_are_the_same():
    engine = idem_test.simulate("--engine", "vllm")
    print_now = ["fp_one"]
    change = lambda path, body: re.sub(rb'"system_fingerprint":"[^"]*"', b'"system_fingerprint":"%s"' % print_now[0].encode(), body)
    assert b"system_fingerprint" in ask(engine).body
    server = relay(engine, change)
    by_hand = gateway_for("vllm", {"a": server.url}, **STRICT)
    by_itself = gateway_for("vllm", {"a": server.url}, {"environment": {"on_change": "new_epoch"}}, **STRICT)
    for gateway in (by_hand, by_itself):
        until(gateway, "a", "admitted")
        assert strict(gateway).status == 200
    epochs = [epoch(by_hand), epoch(by_itself)]
    print_now[0] = "fp_two"
    noticed = strict(by_hand)
    assert "detail=environment_changed" in noticed["Cache-Status"], noticed.headers
    until(by_hand, "a", "quarantined", "environment_changed")
    assert "fp_two" in replicas(by_hand)["a"]["detail"] and epoch(by_hand) == epochs[0]
    assert strict(by_hand).status == 503
    assert idem_test.admin(by_hand, "/admin/v1/epochs", "POST", {"upstream": "up", "reason": "moved"}).status == 202
    until(by_hand, "a", "admitted")
    assert epoch(by_hand) != epochs[0] and strict(by_hand).status == 200
    strict(by_itself)
    idem_test.wait_until(lambda: epoch(by_itself) != epochs[1], "a new epoch was opened")
    until(by_itself, "a", "admitted")
    # The old server is back: it is another one again.
    print_now[0] = "fp_one"
    strict(by_hand)
    until(by_hand, "a", "quarantined", "environment_changed")
    print_now[0] = "fp_two"
    command(by_hand, "attest", "a")
    until(by_hand, "a", "admitted")


def test_without_the_store_those_who_do_not_watch_go_on_with_what_they_knew():
    engine = idem_test.simulate("--engine", "vllm")
    for how in ("killed", "stopped"):
        redis = idem_test.redis_server()
        store = {"store": "redis", "redis": {"urls": [redis.url]}}
        gateways = [gateway_for("vllm", {"a": engine.url}, {"concurrency": {"mode": "batch_invariant"}}, cache=store, **STRICT) for _ in range(3)]
        for gateway in gateways:
            until(gateway, "a", "admitted")
        probed = lambda g: idem_test.metric(g, "idem_replica_transitions_total", replica="a", state="probing")
        before = [probed(g) for g in gateways]
        done, statuses = threading.Event(), []

        def ask_on(gateway):
            while not done.is_set():
                statuses.append(strict(gateway).status)

        threads = [threading.Thread(target=ask_on, args=(g,)) for g in gateways]
        for each in threads:
            each.start()
        if how == "killed":
            redis.kill()
        else:
            redis.signal(signal.SIGSTOP)
        time.sleep(3)
        done.set()
        for each in threads:
            each.join()
        assert set(statuses) == {200}, {s: statuses.count(s) for s in set(statuses)}
        assert [probed(g) for g in gateways] == before
        for gateway in gateways:
            gateway.kill()
        redis.kill()


if __name__ == "__main__":
    idem_test.main(globals())
