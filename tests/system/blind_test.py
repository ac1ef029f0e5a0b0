#!/usr/bin/env python3
"""Memory while Redis is away: it goes on answering, says so, and is held against Redis afterwards."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test

CHAT = "/v1/chat/completions"


def ask(gateway, prompt):
    # Sampled without a seed: every computation gives another answer.
    body = {"model": "m", "temperature": 1, "messages": [{"role": "user", "content": prompt}]}
    answer = idem_test.request(gateway.url, CHAT, body=body)
    assert answer.status == 200, answer.body
    return answer


def start(count=2, *options):
    redis, engine = idem_test.redis_server(), idem_test.simulate()
    gateways = [idem_test.serve(engine.url, "--redis", redis.url, *options, store="redis") for _ in range(count)]
    for g in gateways:
        idem_test.wait_until(lambda g=g: "state_unknown" not in ask(g, "warm")["Cache-Status"], "it caches", 10, 0.05)
    return redis, engine, gateways


def state(gateway):
    return idem_test.request(gateway.admin, "/readyz?verbose").body.decode()


def lose(redis, *gateways):
    redis.signal(signal.SIGSTOP)
    for g in gateways:
        numbers = iter(range(1000))

        def open_breaker(g=g, numbers=numbers):
            ask(g, f"while it goes {next(numbers)}")
            return "breaker open" in state(g)
        idem_test.wait_until(open_breaker, "Redis is given up", 20, 0.02)


def get_back(redis, *gateways):
    redis.signal(signal.SIGCONT)
    for g in gateways:
        idem_test.wait_until(lambda g=g: "breaker open" not in state(g), "Redis is back", 20, 0.05)


def confirmed(gateway, prompt):
    """The answer, once it is held against Redis: each thread makes its connections anew by itself."""
    idem_test.wait_until(lambda: "unconfirmed" not in ask(gateway, prompt)["Cache-Status"], "it is confirmed", 10, 0.05)
    return ask(gateway, prompt)


def count(gateway, result):
    return idem_test.metric(gateway, "idem_unconfirmed_total", result=result)


def test_memory_answers_while_redis_is_away_and_says_so():
    redis, _, (gateway,) = start(1)
    stored = ask(gateway, "p")
    lose(redis, gateway)
    answer = ask(gateway, "p")
    assert answer["X-Cache"] == "HIT" and answer.body == stored.body, answer.headers
    assert answer["Cache-Status"].endswith("detail=memory; unconfirmed"), answer["Cache-Status"]
    assert count(gateway, "blind") == 1
    get_back(redis, gateway)
    answer = confirmed(gateway, "p")
    assert answer["X-Cache"] == "HIT" and answer.body == stored.body, answer.headers
    assert count(gateway, "same") == 1 and count(gateway, "restored") == 0
    ask(gateway, "p")
    assert count(gateway, "same") == 1, "once is enough"


def test_what_redis_lost_is_put_back():
    redis, _, (gateway, other) = start()
    stored = ask(gateway, "p")
    lose(redis, gateway)
    get_back(redis, gateway)
    name = "idem:{" + stored["Idem-Key"] + "}:e"
    assert redis.command("DEL", name) == b":1\r\n"
    answer = confirmed(gateway, "p")
    assert answer["X-Cache"] == "HIT" and answer.body == stored.body, answer.headers
    assert count(gateway, "restored") == 1
    assert redis.command("EXISTS", name) == b":1\r\n"
    answer = ask(other, "p")
    assert answer["X-Cache"] == "HIT" and answer.body == stored.body, answer.headers


def test_of_two_answers_made_meanwhile_one_stays():
    redis, _, both = start()
    lose(redis, *both)
    first, second = (ask(g, "made blind") for g in both)
    assert first["X-Cache"] == second["X-Cache"] == "MISS" and first.body != second.body
    for g, mine in zip(both, (first, second)):
        again = ask(g, "made blind")
        assert again["X-Cache"] == "HIT" and again.body == mine.body and "unconfirmed" in again["Cache-Status"], again.headers
    get_back(redis, *both)
    assert confirmed(both[0], "made blind").body == first.body and count(both[0], "restored") == 1
    answer = confirmed(both[1], "made blind")
    assert answer["X-Cache"] == "HIT" and answer.body == first.body and count(both[1], "replaced") == 1, answer.headers
    assert ask(both[1], "made blind").body == first.body


def test_without_leave_memory_answers_nothing_meanwhile():
    redis, _, (gateway,) = start(1, "--set", "cache.when_blind=miss")
    stored = ask(gateway, "p")
    assert ask(gateway, "p")["X-Cache"] == "HIT"
    lose(redis, gateway)
    answers = [ask(gateway, "p") for _ in range(2)]
    assert [a["X-Cache"] for a in answers] == ["MISS", "MISS"] and len({a.body for a in (stored, *answers)}) == 3
    get_back(redis, gateway)
    idem_test.wait_until(lambda: ask(gateway, "p").body == stored.body, "the stored answer is given again", 10, 0.05)


if __name__ == "__main__":
    idem_test.main(globals())
