"""The state record in Redis damaged, lost, restored from an older copy, or of gateways with another secret."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import wire

NAME = "idem:record:{state}"
DAMAGE = {
    "garbage": ("SET", NAME, b"\x00\xff garbage \r\n$5\r\n"),
    "empty": ("SET", NAME, b""),
    "newer": ("SET", NAME, b"idem-record 1 0000000000000007 idem-state 2 something else"),
    "cut": ("SET", NAME, b"idem-record 1 0000000000000007 idem-state 1 0000000000000abc 3\nrecent "),
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
        assert gateway.output().count("state_unreadable") == 1, (kind, gateway.output())
        assert redis.command("DUMP", NAME) == kept, f"{kind}: the record was touched"
        redis.command("DEL", NAME)
        idem_test.wait_until(lambda g=gateway: caches(g, "repaired"), f"{kind}: it caches", 5, 0.05)
        assert "[+]epochs ok: 1 of 1 known" in verbose(gateway), verbose(gateway)
        assert idem_test.metric(gateway, "idem_epoch_unreadable", upstream="default") == 0
        assert "state_readable" in gateway.output()
        gateway.stop()


def epoch(gateway):
    return ask(gateway, "which epoch").headers.get("idem-epoch")


def agree(*gateways, other_than):
    epochs = {epoch(g) for g in gateways}
    return len(epochs) == 1 and not epochs & {None, *other_than}


def test_a_gateway_that_knows_the_epoch_keeps_it_and_all_get_a_new_one_once_the_record_is_gone():
    redis, engine = idem_test.redis_server(), idem_test.simulate()
    old = gateway_on(redis, engine)
    idem_test.wait_until(lambda: caches(old, "before"), "it caches", 5, 0.05)
    before = epoch(old)
    redis.command("SET", NAME, "garbage")
    idem_test.wait_until(lambda: "[!]epochs degraded: 1 of 1 known; upstream default" in verbose(old), "it is said", 10)
    assert caches(old, "before") and epoch(old) == before
    new = gateway_on(redis, engine)
    assert "state_unknown" in ask(new, "before").headers["cache-status"]
    redis.command("DEL", NAME)
    # What was purged may have been lost with the record: nothing from before it is found any more.
    idem_test.wait_until(lambda: agree(old, new, other_than=[before]), "both have one new epoch", 10, 0.1)
    assert "[+]epochs ok: 1 of 1 known" in verbose(old)
    assert ask(old, "before").headers["x-cache"] == "MISS"
    assert ask(new, "before").headers["x-cache"] == "HIT"


def test_a_record_restored_from_an_older_copy_brings_nothing_purged_back():
    redis, engine = idem_test.redis_server(), idem_test.simulate()
    gateways = [gateway_on(redis, engine) for _ in range(2)]
    for g in gateways:
        idem_test.wait_until(lambda g=g: caches(g, "one"), "it caches", 5, 0.05)
    answers = [ask(g, "one").headers for g in gateways]
    assert answers[0]["idem-digest"] == answers[1]["idem-digest"]
    copy = redis.command("GET", NAME).split(b"\r\n", 1)[1][:-2]
    first = epoch(gateways[0])
    answer = idem_test.admin(gateways[0], "/admin/v1/purge", "POST", {"all": True})
    assert answer.status == 202, answer.body
    redis.command("SET", NAME, copy)
    idem_test.wait_until(lambda: agree(*gateways, other_than=[first]), "another lineage", 10, 0.1)
    assert ask(gateways[1], "one").headers["x-cache"] == "MISS"
    assert "state_lost" in gateways[0].output() + gateways[1].output()
    # And a gateway that is new takes what it finds.
    third = gateway_on(redis, engine)
    idem_test.wait_until(lambda: agree(*gateways, third, other_than=[first]), "three agree", 10, 0.1)


def test_of_many_that_begin_at_once_all_have_one_epoch():
    redis, engine = idem_test.redis_server(), idem_test.simulate()
    gateways = [gateway_on(redis, engine) for _ in range(4)]
    idem_test.wait_until(lambda: agree(*gateways, other_than=[]), "one epoch", 10, 0.1)
    redis.command("FLUSHALL")
    first = epoch(gateways[0])
    idem_test.wait_until(lambda: agree(*gateways, other_than=[first]), "one new epoch", 10, 0.1)


def test_gateways_with_another_secret_are_not_ready():
    redis, engine = idem_test.redis_server(), idem_test.simulate()
    one = idem_test.serve(engine.url, "--redis", redis.url, "--set", "cache.key_secret=first-secret", store="redis")
    idem_test.wait_until(lambda: caches(one, "x"), "it caches", 5, 0.05)
    other = idem_test.serve(engine.url, "--redis", redis.url, "--set", "cache.key_secret=second-secret", store="redis",
                            wait="/livez")
    idem_test.wait_until(lambda: "secret_mismatch" in other.output(), "it is said", 10)
    answer = idem_test.request(other.admin, "/readyz")
    assert answer.status == 503 and b"secret_mismatch" in answer.body, answer.body
    bypassed = ask(other, "x")
    assert bypassed.status == 200 and "detail=secret_mismatch" in bypassed.headers["cache-status"], bypassed.headers
    assert caches(one, "x")
    assert "secret" in str(redis.command("GET", NAME)) and "first-secret" not in str(redis.command("GET", NAME))


if __name__ == "__main__":
    idem_test.main(globals())
