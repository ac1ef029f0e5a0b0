#!/usr/bin/env python3
"""Purges, erasures and epochs: what is purged is served by nobody again, whatever comes after, and what is erased is gone."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test

CHAT = "/v1/chat/completions"
STORES = ("memory", "embedded", "redis")


def gateways(store, count=1, *options):
    engine = idem_test.simulate("--latency", "5")
    redis = idem_test.redis_server() if store == "redis" else None
    where = ["--redis", redis.url] if redis else []
    data = idem_test.scratch("data-") if store == "embedded" and count > 1 else None
    made = [idem_test.serve(engine.url, *where, *options, store=store, data=data) for _ in range(count)]
    return engine, redis, made


def ask(gateway, prompt, tags=None, model="m", headers=None):
    more = {**({"Idem-Tags": tags} if tags else {}), **(headers or {})}
    answer = idem_test.request(gateway.url, CHAT, body={"model": model, "messages": [{"role": "user", "content": prompt}]}, headers=more)
    assert answer.status == 200, answer.body
    return answer


def outcome(gateway, prompt, **more):
    return ask(gateway, prompt, **more)["X-Cache"]


def kept(gateway, prompt, **more):
    ask(gateway, prompt, **more)
    idem_test.wait_until(lambda: outcome(gateway, prompt) == "HIT", "it is stored", 5, 0.05)
    return ask(gateway, prompt)


def order(gateway, path, body):
    return idem_test.admin(gateway, path, "POST", body)


def purge(gateway, path="/admin/v1/purge", **what):
    answer = order(gateway, path, what)
    assert answer.status == 202, answer.body


def epochs(gateway):
    return idem_test.admin(gateway, "/admin/v1/epochs").json()["epochs"][0]


def test_each_kind_reaches_what_it_names_and_nothing_else():
    for store in STORES:
        _, _, (gateway,) = gateways(store)
        for prompt, tags, model in (("red", "red, warm", "m"), ("blue", "blue", "m"), ("other", None, "n")):
            kept(gateway, prompt, tags=tags, model=model) if model == "m" else ask(gateway, prompt, model=model)
        purge(gateway, tag="warm")
        assert outcome(gateway, "blue") == "HIT", store
        assert outcome(gateway, "red", tags="red, warm") == "MISS", store
        assert outcome(gateway, "red") == "HIT", store
        purge(gateway, model="n")
        assert outcome(gateway, "other", model="n") == "MISS", store
        assert outcome(gateway, "blue") == "HIT", store
        purge(gateway, key=ask(gateway, "blue")["Idem-Key"])
        assert outcome(gateway, "red") == "HIT" and outcome(gateway, "blue") == "MISS", store
        for what in ({"route": "route-1"}, {"upstream": "default"}, {"before": "0s"}, {"all": True}):
            assert outcome(gateway, "red") == "HIT", (store, what)
            time.sleep(0.005)  # `before` is by the millisecond
            purge(gateway, **what)
            assert outcome(gateway, "red") == "MISS", (store, what)
        purge(gateway, before="1h")
        assert outcome(gateway, "red") == "HIT", store


def test_what_cannot_be_read_is_refused_by_name():
    _, _, (gateway,) = gateways("memory")
    for body, word in (({}, "names nothing"), ({"tag": ""}, "tag"), ({"tag": "a", "model": "b"}, "several"), ({"all": False}, "all"),
                       ({"colour": "red"}, "colour"), ({"key": "12"}, "64 hexadecimal"), ({"before": "2999-01-01T00:00:00Z"}, "over"),
                       ({"before": "yesterday"}, "30d"), ({"tag": "a", "dry_run": 1}, "dry_run"), ([1], "object")):
        answer = order(gateway, "/admin/v1/purge", body)
        assert answer.status == 400 and word in answer.json()["detail"], (body, answer.body)
    answer = order(gateway, "/admin/v1/epochs/" + "0" * 32 + "/activate", {})
    assert answer.status == 409, answer.body
    assert order(gateway, "/admin/v1/epochs/xyz/activate", {}).status == 404


def test_a_purge_reaches_the_other_gateways_and_their_memory_within_a_second():
    for store in ("embedded", "redis"):
        _, _, both = gateways(store, 2)
        for g in both:
            kept(g, "p", tags="t")
        purge(both[0], tag="t")
        acknowledged = time.monotonic()
        assert outcome(both[0], "p") == "MISS", store
        first = ask(both[0], "p")["Idem-Digest"]
        time.sleep(max(0, acknowledged + 1 - time.monotonic()))
        answer = ask(both[1], "p")
        assert answer["X-Cache"] == "HIT" and answer["Idem-Digest"] == first, (store, answer.headers)


def test_a_purge_defeats_the_fill_under_way():
    for store in STORES:
        engine = idem_test.simulate("--latency", "600")
        redis = idem_test.redis_server() if store == "redis" else None
        gateway = idem_test.serve(engine.url, *(["--redis", redis.url] if redis else []), store=store)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            early = pool.submit(ask, gateway, "slow", "t")
            idem_test.wait_until(lambda: idem_test.request(engine.url, "/simulate/stats").json()["calls"] == 1, "it is asked")
            purge(gateway, tag="t")
            late = ask(gateway, "slow")
            early = early.result()
        assert early["X-Cache"] == "MISS" and "stored" not in early["Cache-Status"], (store, early["Cache-Status"])
        assert late["X-Cache"] == "MISS" and "stored" in late["Cache-Status"], (store, late["Cache-Status"])
        assert outcome(gateway, "slow") == "HIT"
        assert idem_test.request(engine.url, "/simulate/stats").json()["calls"] == 2, store


def test_an_older_epoch_comes_back_with_its_answers_but_for_what_was_purged():
    for store in STORES:
        _, _, (gateway,) = gateways(store)
        first = epochs(gateway)["epoch"]
        kept(gateway, "keep")
        kept(gateway, "drop", tags="t")
        answer = order(gateway, "/admin/v1/epochs", {"upstream": "default", "reason": "new weights"})
        assert answer.status == 202 and answer.json()["epoch"] == epochs(gateway)["epoch"] != first, answer.body
        assert outcome(gateway, "keep") == "MISS", store
        purge(gateway, tag="t")
        assert order(gateway, f"/admin/v1/epochs/{first}/activate", {}).status == 202
        now = epochs(gateway)
        assert now["epoch"] == first and now["by_hand"] and len(now["known"]) == 2, now
        assert [e["current"] for e in now["known"]] == [True, False] and "new weights" in now["known"][1]["reason"], now
        assert outcome(gateway, "keep") == "HIT", store
        assert outcome(gateway, "drop") == "MISS", store


def test_purged_stays_purged_after_a_restart():
    for store in ("embedded", "redis"):
        engine, redis, (gateway,) = gateways(store)
        kept(gateway, "p", tags="t")
        purge(gateway, tag="t")
        gateway.kill()
        again = idem_test.serve(engine.url, *(["--redis", redis.url] if redis else []), store=store, data=gateway.data)
        assert outcome(again, "p") == "MISS", store


def test_without_the_store_nothing_is_acknowledged():
    _, redis, (gateway,) = gateways("redis")
    kept(gateway, "p", tags="t")
    redis.kill()
    answer = order(gateway, "/admin/v1/purge", {"tag": "t"})
    assert answer.status == 503 and "nothing was changed" in answer.json()["detail"], answer.body


def entries_in_memory(gateway):
    return idem_test.admin(gateway, "/admin/v1/stats").json()["tiers"][0]["entries"]


def test_a_dry_run_counts_and_changes_nothing():
    for store in STORES:
        _, _, (gateway,) = gateways(store)
        for prompt, tags in (("a", "t"), ("b", "t"), ("c", None)):
            kept(gateway, prompt, tags=tags)
        for what, n in (({"tag": "t"}, 2), ({"all": True}, 3), ({"model": "other"}, 0)):
            answer = order(gateway, "/admin/v1/purge", {**what, "dry_run": True})
            assert answer.status == 200 and answer.json() == {"entries": n}, (store, what, answer.body)
        assert outcome(gateway, "a") == "HIT"
        purge(gateway, tag="t")
        assert order(gateway, "/admin/v1/purge", {"all": True, "dry_run": True}).json() == {"entries": 1}, store


def test_what_is_erased_is_in_no_file_and_in_no_memory():
    for store in ("embedded", "redis"):
        _, redis, both = gateways(store, 2, "--set", "cache.compression=none")
        for g in both:
            body = kept(g, "to be erased", tags="t").body
        canary = json.loads(body)["choices"][0]["message"]["content"][:24].encode()
        kept(both[0], "other")
        files = [f for f in pathlib.Path(both[0].data).iterdir() if f.name.startswith("idem.db")] if store == "embedded" else []
        assert not files or any(canary in f.read_bytes() for f in files)
        answer = order(both[0], "/admin/v1/erase", {"tag": "t"})
        assert answer.status == 202 and answer.json()["entries"] == 1, (store, answer.body)
        idem_test.wait_until(lambda: not any(canary in f.read_bytes() for f in files if f.exists()), "no byte is in the files", 10, 0.1)
        if redis:
            assert redis.command("KEYS", "*}:e").startswith(b"*1\r\n"), redis.command("KEYS", "*}:e")
        for g, left in ((both[0], 1), (both[1], 0)):
            idem_test.wait_until(lambda g=g, left=left: entries_in_memory(g) == left, "memory let go of it", 5)
        assert outcome(both[0], "other") == "HIT" and outcome(both[1], "to be erased") == "MISS", store


def idem(gateway, *words, status=0):
    ended = subprocess.run([idem_test.BINARY, "cache", *words, "--admin", gateway.admin.removeprefix("http://"), "--data", gateway.data],
                           capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "IDEM_ADMIN_TOKEN": gateway.token})
    assert ended.returncode == status, (words, ended)
    return ended.stdout if status == 0 else ended.stderr


def test_the_same_from_a_shell():
    for store in STORES:
        _, _, (gateway,) = gateways(store)
        for prompt, tags in (("a", "t"), ("b", "t"), ("c", None)):
            kept(gateway, prompt, tags=tags)
        first = epochs(gateway)["epoch"]
        listed = json.loads(idem(gateway, "list", "-o", "json"))
        assert len(listed) == 3 and len(json.loads(idem(gateway, "list", "--tag", "t", "--limit", "1", "-o", "json"))) == 1, listed
        key = ask(gateway, "c")["Idem-Key"]
        assert key in idem(gateway, "list", "--model", "m") and idem(gateway, "list", "--model", "n").count("\n") == 1
        assert idem(gateway, "get", key, "--body").encode() == ask(gateway, "c").body
        assert "model" in idem(gateway, "get", key) and "memory" in idem(gateway, "stats")
        assert "2 entries" in idem(gateway, "purge", "--tag", "t", "--dry-run")
        assert "purged" in idem(gateway, "purge", "--tag", "t") and len(json.loads(idem(gateway, "list", "-o", "json"))) == 1
        second = idem(gateway, "epochs", "--open", "default", "--reason", "r").split()[1]
        assert second == epochs(gateway)["epoch"] and first in idem(gateway, "epochs")
        assert first in idem(gateway, "rollback", first) and epochs(gateway)["epoch"] == first
        assert "still remembered" in idem(gateway, "rollback", "0" * 32, status=1), store
        assert "erased" in idem(gateway, "erase", "--all") and outcome(gateway, "c") == "MISS"


if __name__ == "__main__":
    idem_test.main(globals())
