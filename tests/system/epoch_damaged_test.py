"""An epoch record in Redis that nobody can read: left alone, said aloud, requests uncached, and repaired once it is deleted."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import wire

NAME = "idem:record:{epoch/default}"
DAMAGE = {
    "garbage": ("SET", NAME, b"\x00\xff garbage \r\n$5\r\n"),
    "empty": ("SET", NAME, b""),
    "newer": ("SET", NAME, b"idem-record 1 0000000000000007 idem-epoch 2 something else"),
    "cut": ("SET", NAME, b"idem-record 1 0000000000000007 idem-epoch 1 " + b"0" * 64),
    "another type": ("LPUSH", NAME, b"a"),
}


def ask(gateway, prompt):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
    return wire.post(gateway.url, "/v1/chat/completions", body)


def gateway_on(redis, engine):
    return idem_test.serve(engine.url, "--redis", redis.url, store="redis")


def verbose(gateway):
    return idem_test.request(gateway.admin, "/readyz?verbose").body.decode()


def caches(gateway, prompt):
    return "state_unknown" not in ask(gateway, prompt).headers["cache-status"] and ask(gateway, prompt).headers["x-cache"] == "HIT"


def test_a_new_gateway_serves_uncached_says_so_and_caches_once_the_record_is_deleted():
    redis, engine = idem_test.redis_server(), idem_test.simulate()
    for kind, damage in DAMAGE.items():
        redis.command("DEL", NAME)
        redis.command(*damage)
        kept = redis.command("DUMP", NAME)
        gateway = gateway_on(redis, engine)
        for _ in range(2):
            answer = ask(gateway, f"asked while damaged: {kind}")
            assert answer.status == 200 and answer.headers["x-cache"] == "BYPASS", (kind, answer.headers)
            assert "detail=state_unknown" in answer.headers["cache-status"], (kind, answer.headers)
        assert idem_test.request(gateway.admin, "/readyz").status == 200
        assert "[!]epochs degraded: 0 of 1 known; upstream default: the store's record is damaged or of a newer format" \
            in verbose(gateway), (kind, verbose(gateway))
        assert idem_test.metric(gateway, "idem_epoch_unreadable", upstream="default") == 1
        assert gateway.output().count("epoch_unreadable") == 1, (kind, gateway.output())
        assert redis.command("DUMP", NAME) == kept, f"{kind}: the record was touched"
        redis.command("DEL", NAME)
        idem_test.wait_until(lambda g=gateway: caches(g, "repaired"), f"{kind}: it caches", 5, 0.05)
        assert "[+]epochs ok: 1 of 1 known" in verbose(gateway), verbose(gateway)
        assert idem_test.metric(gateway, "idem_epoch_unreadable", upstream="default") == 0
        assert "epoch_readable" in gateway.output()
        gateway.stop()


def test_a_gateway_that_knows_the_epoch_keeps_it_and_gives_it_back():
    redis, engine = idem_test.redis_server(), idem_test.simulate()
    old = gateway_on(redis, engine)
    idem_test.wait_until(lambda: caches(old, "before"), "it caches", 5, 0.05)
    epoch = ask(old, "before").headers["idem-epoch"]
    redis.command("SET", NAME, "garbage")
    idem_test.wait_until(lambda: "[!]epochs degraded: 1 of 1 known; upstream default" in verbose(old), "it is said", 10)
    assert caches(old, "before") and ask(old, "before").headers["idem-epoch"] == epoch
    new = gateway_on(redis, engine)
    assert "state_unknown" in ask(new, "before").headers["cache-status"]
    # Whoever comes first after the deletion proposes; here only one of them knows an epoch to give back.
    new.signal(signal.SIGSTOP)
    redis.command("DEL", NAME)
    idem_test.wait_until(lambda: "[+]epochs ok: 1 of 1 known" in verbose(old), "it is back", 10)
    new.signal(signal.SIGCONT)
    idem_test.wait_until(lambda: caches(new, "before"), "the new one caches", 5, 0.05)
    assert ask(new, "before").headers["idem-epoch"] == epoch


idem_test.main(globals())
