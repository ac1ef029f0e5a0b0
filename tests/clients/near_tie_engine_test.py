#!/usr/bin/env python3
"""What Idem is for: a real engine with eight slots and continuous batching, whose greedy answers depend on who else is calling; and the
same engine, with the same neighbours, behind policy strict."""
# runner: needs-engine alone
import json
import os
import random
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import engine
import idem_test

WORDS = "ka lo mi ne ru sa to ve".split()
TOKENS = 60
RUNS = 200


def complete(url, prompt, tokens, headers=None, **more):
    body = {"prompt": prompt, "n_predict": tokens, "temperature": 0, "cache_prompt": False, "ignore_eos": True, **more}
    return idem_test.request(url, "/completion", body=body, headers=headers, timeout=120)


class Neighbours:
    """Callers who ask other things, long and short, one after the other, until they are told to stop."""

    def __init__(self, count, seed, call):
        self.stopped, self.call, self.answered = threading.Event(), call, 0
        self.threads = [threading.Thread(target=self.keep_asking, args=(random.Random(f"{seed} {i}"),)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def keep_asking(self, rng):
        while not self.stopped.is_set():
            answer = self.call(" ".join(rng.choices(WORDS, k=rng.randrange(2, 40))), rng.randrange(1, 12), rng)
            assert answer.status == 200, (answer.status, answer.body)
            self.answered += 1

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def outputs(runs, target, neighbour):
    """What one prompt was answered in each of the runs, beside 1 to 7 neighbours each; and how many calls they had answered."""
    rng, found, beside = random.Random(1), [], 0
    for run in range(runs):
        neighbours = Neighbours(rng.randrange(1, 8), run, neighbour)
        try:
            found.append(target())
        finally:
            neighbours.stop()
        beside += neighbours.answered
    return found, beside


def serve_strict(url):
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "engine": "llamacpp", "exclusive": True, "replicas": [{"id": "a", "url": url}],
                                                                "concurrency": {"mode": "serial"}}],
                   "routes": [{"match": {"header": {"x-scenario": "chat"}}, "upstream": "up", "policy": "relaxed"},
                              {"upstream": "up", "policy": "strict"}]}, file)
    gateway = idem_test.serve(config=path)
    idem_test.wait_until(lambda: complete(gateway.url, "ka", 2).status == 200, "the replica is admitted", 60, every=0.1)
    return gateway


def test_neighbours_change_the_answers_of_the_engine_and_not_those_of_idem():
    server = engine.start("--near-tie", "--slots", "8")
    prompt = "ka lo mi ne ru"
    alone = {complete(server.url, prompt, TOKENS).json()["content"] for _ in range(10)}
    assert len(alone) == 1, "alone it repeats itself"
    direct, beside = outputs(40, lambda: complete(server.url, prompt, TOKENS).json()["content"], lambda p, n, _: complete(server.url, p, n))
    distinct = len(set(direct))
    print(f"  direct: {distinct} distinct outputs in 40 runs beside {beside} calls of 1 to 7 neighbours")
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        if distinct == 1 and " avx2 " not in file.read():
            raise idem_test.Skip("on this machine the engine has one kernel for all batch sizes, so that there is nothing to show")
    assert distinct >= 10, f"only {distinct} distinct outputs"

    gateway = serve_strict(server.url)

    def target():
        answer = complete(gateway.url, prompt, TOKENS, {"Cache-Control": "no-cache"})
        assert answer.status == 200 and answer["x-cache"] != "HIT", (answer.status, answer.body, answer.headers)
        return answer.json()["content"]

    def neighbour(text, tokens, rng):
        if rng.random() < 0.5:
            return complete(gateway.url, text, tokens, {"Cache-Control": "no-cache"})
        return complete(gateway.url, text, tokens, {"Cache-Control": "no-cache", "x-scenario": "chat"}, temperature=1.0)

    through, beside = outputs(RUNS, target, neighbour)
    print(f"  through Idem: {len(set(through))} distinct outputs in {RUNS} runs beside {beside} calls of 1 to 7 neighbours")
    assert len(set(through)) == 1 and beside >= RUNS, (len(set(through)), beside)


idem_test.main(globals())
