#!/usr/bin/env python3
"""Strict, seeded and offline through the program: what the upstream gets, what is refused, and which answers meet which requests."""
import gzip
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

CHAT = "/v1/chat/completions"
GREEDY = {"temperature": 0, "top_p": 1, "top_k": 0, "min_p": 0, "repetition_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0, "n": 1, "seed": 0}


class Upstream:
    """Every answer is another one; the bodies that came are kept."""

    def __init__(self):
        self.server = raw_upstream.RawUpstream(self.answer)

    def answer(self, request):
        said = f"answer {len(self.server.requests)}"
        target = request.split(b" ", 2)[1].decode()
        if ":generateContent" in target:
            body = {"candidates": [{"content": {"role": "model", "parts": [{"text": said}]}, "finishReason": "STOP", "index": 0}], "modelVersion": "m"}
        elif target == "/api/chat":
            body = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": said}, "done": True, "done_reason": "stop"}
        else:
            body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
                {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        return raw_upstream.sized(json.dumps(body)), "keep"

    def calls(self):
        return len(self.server.requests)

    def last(self):
        return json.loads(self.server.requests[-1].partition(b"\r\n\r\n")[2])

    def last_target(self):
        return self.server.requests[-1].split(b" ", 2)[1].decode()


def write(upstream, engine, policies, routes):
    file = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"upstreams": [{"name": "u", "engine": engine, "probe": "off", "replicas": [{"url": upstream.server.url}]}], "policies": policies,
                   "cache": {"store": "memory"}, "routes": routes}, out)
    return file


def gateway_of(upstream, engine, policies, routes):
    return idem_test.serve(config=write(upstream, engine, policies, routes))


def chat(prompt, **more):
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], **more}


def ask(gateway, body, path=CHAT, **headers):
    return wire.post(gateway.url, path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)


def cached(answer):
    assert answer.status == 200, (answer.status, answer.body)
    return answer.headers["x-cache"], answer.body


def code(answer):
    return answer.status, json.loads(answer.body)["error"]["code"]


def test_strict_fixes_parameters_starts_from_a_known_state_and_shares_one_entry():
    upstream = Upstream()
    gateway = gateway_of(upstream, "vllm", {}, [{"policy": "strict"}])
    cache, first = cached(ask(gateway, chat("x", cache_salt="mine")))
    sent = upstream.last()
    assert cache == "MISS" and re.fullmatch("[0-9a-f]{32}", sent.pop("cache_salt")), sent
    assert sent == {**chat("x"), **GREEDY}, sent
    # Absent, zero, and what the engine takes for zero: one entry of this caller, who says who it is by its salt.
    for spelled in ({"temperature": 0.0}, {"temperature": 1e-7, "top_k": -1}, {"n": 1, "seed": None}, {"min_p": -0.0}):
        assert cached(ask(gateway, chat("x", cache_salt="mine", **spelled))) == ("HIT", first), spelled
    assert upstream.calls() == 1
    # The scope stays the client's: without its salt it is somebody else. Each fill has a salt of its own.
    assert cached(ask(gateway, chat("x")))[0] == "MISS"
    salts = [json.loads(r.partition(b"\r\n\r\n")[2])["cache_salt"] for r in upstream.server.requests]
    assert len(set(salts)) == 2, salts
    assert cached(ask(gateway, chat("x", seed=3)))[0] == "MISS" and upstream.last()["seed"] == 3
    # A body that came compressed goes as it has to be.
    packed = gzip.compress(json.dumps(chat("packed")).encode())
    assert cached(ask(gateway, packed, **{"Content-Encoding": "gzip"}))[0] == "MISS"
    assert upstream.last()["temperature"] == 0 and upstream.last()["messages"][0]["content"] == "packed"
    assert b"content-encoding" not in upstream.server.requests[-1].lower()


def test_conflicts_are_named_each():
    upstream = Upstream()
    gateway = gateway_of(upstream, "vllm", {}, [{"policy": "strict"}])
    answer = ask(gateway, chat("x", temperature=0.7, n=2, priority=5, top_p=0.9, seed=-1))
    assert code(answer) == (400, "parameter_conflict")
    message = json.loads(answer.body)["error"]["message"]
    for part in ('"strict"', "temperature is 0.7, expected 0", "n is 2, expected 1", "priority is 5, expected 0 or absent", "top_p is 0.9, expected 1",
                 "seed is -1"):
        assert part in message, (part, message)
    assert code(ask(gateway, {"model": "m", "input": "x"}, "/v1/responses")) == (400, "no_deterministic_form")
    assert "openai.chat, openai.completions" in json.loads(ask(gateway, {"model": "m", "input": "x"}, "/v1/responses").body)["error"]["message"]
    anthropic = ask(gateway, {"model": "m", "max_tokens": 9, "messages": []}, "/v1/messages")
    assert anthropic.status == 400 and b"no_deterministic_form" in anthropic.body and json.loads(anthropic.body)["type"] == "error"
    # What cannot be read cannot be held to anything.
    assert code(ask(gateway, b'{"model":"m",')) == (400, "body_not_json")
    assert ask(gateway, chat("x"), **{"Content-Type": "text/plain"}).status == 415
    assert code(ask(gateway, chat("x"), **{"Idem-Sample": "1"})) == (400, "bad_control")
    assert code(ask(gateway, {"model": "m", "prompt": ["a", "b"]}, "/v1/completions")) == (400, "parameter_conflict")
    assert upstream.calls() == 0
    # Where nothing is sampled there is nothing to fix; what no dialect knows goes on.
    ask(gateway, {"model": "m", "input": "x"}, "/v1/embeddings")
    assert upstream.last() == {"model": "m", "input": "x"}
    # Not cached is not unfixed.
    ask(gateway, chat("x", tools=[{"type": "web_search"}]))
    assert upstream.last()["temperature"] == 0 and len(upstream.last()["cache_salt"]) == 32
    assert ask(gateway, chat("x", tools=[{"type": "web_search"}], temperature=1)).status == 400


UNCLAIMED = ["/invocations", CHAT + "/", "/" + CHAT, "/v1/%63hat/completions", "/v1/engines/m/completions",
             "/openai/deployments/m/chat/completions?api-version=1", "/sleep?level=1", "/pause", "/v1/load_lora_adapter", "/v1/batches"]


def test_what_no_api_explains_is_not_forwarded_where_answers_have_to_be_reproducible():
    for policy in ("strict", "seeded"):
        upstream = Upstream()
        gateway = gateway_of(upstream, "vllm", {}, [{"policy": policy}])
        for path in UNCLAIMED:
            answer = ask(gateway, chat("x"), path)
            assert code(answer) == (400, "no_deterministic_form"), (policy, path, answer.status, answer.body)
            assert path.partition("?")[0] in json.loads(answer.body)["error"]["message"], answer.body
        for method in ("PUT", "PATCH", "DELETE"):
            assert idem_test.request(gateway.url, "/v1/files/1", method=method, body=b"{}").status == 400
        assert upstream.calls() == 0
        # What only reads, and tokenisers, go on; GET has no body to hold.
        for path in ("/v1/files/1", "/version", CHAT):
            assert idem_test.request(gateway.url, path, method="GET").status == 200, path
        assert ask(gateway, {"prompt": "x"}, "/detokenize").status == 200
        assert upstream.calls() == 4
    # Asked for by one call, too; and relaxed forwards whatever comes.
    upstream = Upstream()
    gateway = gateway_of(upstream, "vllm", {}, [{"policy": "relaxed"}])
    assert code(ask(gateway, chat("x"), "/invocations", **{"Idem-Policy": "seeded"})) == (400, "no_deterministic_form")
    assert code(ask(gateway, chat("x"), "/invocations", **{"Idem-Policy": "unheard"})) == (400, "bad_control")
    assert upstream.calls() == 0
    assert ask(gateway, chat("x"), "/invocations").status == 200 and upstream.calls() == 1


def test_strict_wants_an_admitted_replica_and_the_rest_of_the_api_does_not():
    engine = idem_test.simulate("--engine", "vllm")
    file = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"cache": {"store": "memory"}, "routes": [{"policy": "strict"}], "upstreams": [
            {"name": "u", "engine": "vllm", "replicas": [{"url": engine.url}], "admission": {"health_interval": "100ms"}}]}, out)
    gateway = idem_test.serve(config=file)
    idem_test.wait_until(lambda: ask(gateway, chat("x")).status == 200, "the replica is admitted", 30, 0.1)
    assert idem_test.request(gateway.url, "/v1/models").status == 200
    # Held to the rules and not kept: under strict, too, it goes to an admitted replica alone.
    assert ask(gateway, chat("x", store=True)).headers["x-cache"] == "BYPASS"
    listed = idem_test.admin(gateway, "/admin/v1/replicas").json()["upstreams"][0]["replicas"][0]["id"]
    assert idem_test.admin(gateway, f"/admin/v1/replicas/{listed}/quarantine", "POST").status in (200, 202, 204)
    idem_test.wait_until(lambda: ask(gateway, chat("y")).status == 503, "the replica is quarantined", 30, 0.1)
    assert code(ask(gateway, chat("x", store=True))) == (503, "determinism_unavailable")
    assert idem_test.request(gateway.url, "/v1/models").status == 200


def test_a_body_beyond_the_cap_is_not_forwarded_unread():
    upstream = Upstream()
    file = write(upstream, "vllm", {}, [{"match": {"header": {"x-plain": "yes"}}}, {"policy": "strict"}])
    gateway = idem_test.serve(None, "--set", "listen.body=1KiB", config=file)
    big = chat("x" * 5000)
    assert code(ask(gateway, big)) == (413, "body_too_large")
    assert upstream.calls() == 0
    assert ask(gateway, big, **{"x-plain": "yes"}).status == 200


def test_override_allow_and_what_may_meet_what():
    upstream = Upstream()
    policies = {"firm": {"extends": "strict", "conflict": "override"}, "soft": {"extends": "strict", "conflict": "allow"}}
    routes = [{"match": {"header": {"x-policy": name}}, "policy": name} for name in ("firm", "soft", "strict", "seeded")] + [{"policy": "relaxed"}]
    gateway = gateway_of(upstream, "vllm", policies, routes)
    hot = chat("x", temperature=0.7, priority=3)
    firm, soft, strict, seeded = ({"x-policy": name} for name in ("firm", "soft", "strict", "seeded"))
    cache, first = cached(ask(gateway, hot, **firm))
    assert cache == "MISS" and upstream.last()["temperature"] == 0 and "priority" not in upstream.last()
    assert cached(ask(gateway, chat("x"), **firm)) == ("HIT", first)
    assert cached(ask(gateway, hot, **soft))[0] == "MISS"
    assert upstream.last()["temperature"] == 0.7 and upstream.last()["priority"] == 3 and upstream.last()["top_p"] == 1
    # An answer that a client's value may have touched is none for those who kept the policy.
    assert cached(ask(gateway, chat("y", priority=3), **soft))[0] == "MISS"
    assert cached(ask(gateway, chat("y"), **soft))[0] == "MISS"
    assert cached(ask(gateway, chat("y", priority=3), **soft))[0] == "HIT"
    # A list of prompts is no value that another could take the place of.
    assert code(ask(gateway, {"model": "m", "prompt": ["a", "b"]}, "/v1/completions", **firm)) == (400, "parameter_conflict")
    # The same bytes under five policies are five requests, in either order.
    explicit = chat("z", **GREEDY)
    for number, headers in enumerate(({}, strict, seeded, firm, soft)):
        cache, body = cached(ask(gateway, explicit, **headers))
        assert cache == "MISS", (number, headers)
        assert cached(ask(gateway, explicit, **headers)) == ("HIT", body)


def test_seeded_samples_alike():
    upstream = Upstream()
    gateway = gateway_of(upstream, "vllm", {}, [{"policy": "seeded"}])
    hot = chat("x", temperature=0.8)
    answer = ask(gateway, hot)
    seed = upstream.last()["seed"]
    assert upstream.last() == {**hot, "seed": seed}
    assert seed == max(int(answer.headers["idem-request"][:8], 16) & 0x7FFFFFFF, 1), "as the digest says"
    assert cached(ask(gateway, hot))[0] == "HIT"
    ask(gateway, hot, **{"Cache-Control": "no-cache"})
    assert upstream.last()["seed"] == seed
    other = idem_test.serve(config=write(upstream, "vllm", {}, [{"policy": "seeded"}]))
    ask(other, json.dumps(hot, separators=(" , ", " : ")).encode())
    assert upstream.last()["seed"] == seed, "another gateway, another spelling"
    samples = set()
    for n in range(3):
        ask(gateway, hot, **{"Idem-Sample": str(n)})
        samples.add(upstream.last()["seed"] if n else seed)
    assert len(samples) == 3
    ask(gateway, {**hot, "seed": 11})
    assert upstream.last()["seed"] == 11
    assert code(ask(gateway, {**hot, "seed": -1})) == (400, "parameter_conflict")
    assert code(ask(gateway, chat("x", temperature=0.005))) == (400, "parameter_conflict")
    assert ask(gateway, chat("x", temperature=1e-6)).status == 200


def test_seeds_of_other_engines_stand_where_these_look():
    for engine, path, body, place in (
            ("ollama", "/api/chat", {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": False}, ("options", "seed")),
            ("mistral", CHAT, chat("x"), ("random_seed",)),
            ("gemini", "/v1beta/models/m:generateContent", {"contents": [{"parts": [{"text": "x"}]}], "generation_config": {"temperature": 1}},
             ("generation_config", "seed"))):
        upstream = Upstream()
        gateway = gateway_of(upstream, engine, {}, [{"policy": "seeded"}])
        assert cached(ask(gateway, body, path))[0] == "MISS"
        sent = upstream.last()
        for step in place:
            sent = sent[step]
        assert 0 < sent < 2**31, (engine, upstream.last())
        assert cached(ask(gateway, body, path))[0] == "HIT"


def test_offline_answers_what_is_stored_and_asks_nobody():
    upstream = Upstream()
    policies = {"audit": {"extends": "strict"}, "shelf": {"extends": "offline", "of": "audit"}}
    routes = [{"match": {"header": {"x-policy": name}}, "policy": name} for name in ("audit", "shelf", "offline", "bypass")] + [{"policy": "relaxed"}]
    gateway = gateway_of(upstream, "vllm", policies, routes)
    audit, shelf, offline, bypass = ({"x-policy": name} for name in ("audit", "shelf", "offline", "bypass"))
    _, strict = cached(ask(gateway, chat("x"), **audit))
    _, relaxed = cached(ask(gateway, chat("x")))
    calls = upstream.calls()
    assert cached(ask(gateway, chat("x"), **shelf)) == ("HIT", strict)
    assert cached(ask(gateway, chat("x", temperature=0.0), **shelf)) == ("HIT", strict)
    assert cached(ask(gateway, chat("x"), **offline)) == ("HIT", relaxed)
    asked = {"Idem-Policy": "offline"}
    assert cached(ask(gateway, chat("x"), **asked)) == ("HIT", relaxed)
    assert cached(ask(gateway, chat("x"), **audit, **asked)) == ("HIT", strict)
    for body, path, headers in ((chat("new"), CHAT, shelf), (chat("new"), CHAT, offline), (chat("new"), CHAT, asked), (chat("x"), CHAT, {**bypass, **asked}),
                                (chat("x"), CHAT, {**offline, "Cache-Control": "no-cache"}), (b'{"model":', CHAT, asked),
                                (chat("x", store=True), CHAT, offline), ({"file": 1}, "/v1/files", offline), ({"file": 1}, "/v1/files", asked),
                                ({"model": "m", "input": ["a", "b"]}, "/v1/embeddings", offline)):
        answer = ask(gateway, body, path, **headers)
        assert answer.status == 504 and answer.headers["x-should-retry"] == "false", (body, headers, answer.status, answer.body)
        assert b"offline" in answer.body and "detail=offline" in answer.headers["cache-status"], (answer.headers, answer.body)
    assert code(ask(gateway, chat("x", temperature=1), **shelf)) == (400, "parameter_conflict")
    assert code(ask(gateway, chat("x"), **shelf, **{"Idem-Policy": "relaxed"})) == (400, "bad_control")
    assert upstream.calls() == calls, "nobody was asked"
    assert idem_test.request(gateway.url, "/v1/models", headers=offline).status == 504


def test_a_client_may_ask_for_more_and_not_for_less():
    upstream = Upstream()
    gateway = gateway_of(upstream, "vllm", {"audit": {"extends": "strict"}, "long": {"ttl": "365d"}}, [
        {"match": {"model": "s"}, "policy": "audit"}, {"policy": "relaxed"}])
    assert cached(ask(gateway, chat("x"), **{"Idem-Policy": "strict"}))[0] == "MISS"
    assert upstream.last()["temperature"] == 0
    assert cached(ask(gateway, chat("x"), **{"Idem-Policy": "long"}))[0] == "MISS"
    assert upstream.last() == chat("x")
    assert code(ask(gateway, chat("x", model="s"), **{"Idem-Policy": "relaxed"})) == (400, "bad_control")
    assert code(ask(gateway, chat("x"), **{"Idem-Policy": "bypass"})) == (400, "bad_control")


def test_routes_by_dialect_and_models_by_another_name():
    upstream = Upstream()
    gateway = gateway_of(upstream, "vllm", {}, [
        {"match": {"dialect": "openai.embeddings"}, "policy": "bypass", "model": "vectors"},
        {"match": {"dialect": "gemini.*"}, "model": "models x/2"},
        {"match": {"dialect": "passthrough"}, "policy": "bypass"},
        {"match": {"model": "alias-*"}, "model": "Qwen/Qwen3-8B"},
        {"match": {"dialect": "openai.*"}}])
    cache, first = cached(ask(gateway, chat("x", model="alias-1")))
    assert cache == "MISS" and upstream.last() == chat("x", model="Qwen/Qwen3-8B")
    assert cached(ask(gateway, chat("x", model="alias-2"))) == ("HIT", first), "the key is made of the name that goes upstream"
    assert cached(ask(gateway, chat("x")))[0] == "MISS" and upstream.last()["model"] == "m"
    ask(gateway, {"model": "m", "input": "x"}, "/v1/embeddings")
    assert upstream.last() == {"model": "vectors", "input": "x"}
    gemini = {"contents": [{"parts": [{"text": "x"}]}]}
    assert cached(ask(gateway, gemini, "/v1beta/models/a:generateContent?key=k"))[0] == "MISS"
    assert upstream.last_target() == "/v1beta/models/models%20x%2f2:generateContent?key=k", upstream.last_target()
    assert cached(ask(gateway, gemini, "/v1beta/models/b:generateContent?key=k"))[0] == "HIT"
    ask(gateway, {"a": 1}, "/v1/files")
    assert upstream.last_target() == "/v1/files"
    assert ask(gateway, {"model": "m", "max_tokens": 1, "messages": []}, "/v1/messages").status == 404
    # What is not cached gets the name too.
    ask(gateway, chat("x", model="alias-1", store=True))
    assert upstream.last()["model"] == "Qwen/Qwen3-8B"


def test_the_shell_says_the_same():
    upstream = Upstream()
    file = write(upstream, "vllm", {"firm": {"extends": "strict", "conflict": "override"}}, [
        {"match": {"header": {"x-policy": "seeded"}}, "policy": "seeded"}, {"match": {"header": {"x-policy": "firm"}}, "policy": "firm"}, {"policy": "strict"}])
    gateway = idem_test.serve(config=file)

    def key(body, *options):
        done = subprocess.run([idem_test.BINARY, "key", "-o", "json", "-c", file, "--path", CHAT, *options, "-"], input=json.dumps(body).encode(),
                              capture_output=True, check=False, timeout=60)
        return json.loads(done.stdout)
    said = key(chat("x"))
    answer = ask(gateway, chat("x"))
    assert said["digest"] == answer.headers["idem-request"] and said["policy"] == "strict"
    assert json.loads(said["forwarded"]) == {**chat("x"), **GREEDY}
    said = key(chat("x", temperature=1))
    assert (said["verdict"], said["reason"]) == ("refused", "parameter_conflict") and said["conflicts"] == ["temperature is 1, expected 0 or absent"], said
    said = key(chat("x"), "--header", "x-policy: seeded")
    answer = ask(gateway, chat("x"), **{"x-policy": "seeded"})
    assert said["digest"] == answer.headers["idem-request"] and said["seed"] == upstream.last()["seed"]
    assert key(chat("x", temperature=1), "--header", "x-policy: firm")["digest"] == key(chat("x"), "--header", "x-policy: firm")["digest"]


if __name__ == "__main__":
    idem_test.main(globals())
