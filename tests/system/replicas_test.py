#!/usr/bin/env python3
"""Replicas that are watched: admission, environments that change, drift, orders by hand, and several gateways on one store."""
import json
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

CHAT = "/v1/chat/completions"
ENGINES = ["vllm", "sglang", "llamacpp", "ollama", "tgi", "trtllm", "lmdeploy"]
QUICK = {"environment": {"interval": "200ms"}, "admission": {"health_interval": "100ms", "interval": "60s", "runs": 2}}


def merged(*maps):
    out = {}
    for each in maps:
        for key, value in each.items():
            out[key] = merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def gateway_for(engine, replicas, more=None, cache=None, data=None, **top):
    """A gateway whose upstream `up` has these replicas: {id: url}."""
    upstream = merged({"name": "up", "engine": engine, "probe": "on"}, QUICK, more or {},
                      {"replicas": [{"id": name, "url": url} for name, url in replicas.items()]})
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": cache or {"store": "memory"}, "upstreams": [upstream], **top}, file)
    return idem_test.serve(config=path, data=data)


def replicas(gateway):
    answer = idem_test.admin(gateway, "/admin/v1/replicas")
    assert answer.status == 200, answer.body
    return {each["id"]: each for each in answer.json()["upstreams"][0]["replicas"]}


def epoch(gateway):
    return idem_test.admin(gateway, "/admin/v1/epochs").json()["epochs"][0]["epoch"]


STRICT = {"routes": [{"upstream": "up", "policy": "strict"}]}


def until(gateway, replica, state, why=None, deadline=15):
    def there():
        now = replicas(gateway)[replica]
        return now["state"] == state and why in (None, now["why"])
    try:
        idem_test.wait_until(there, f"{replica} is {state} ({why})", deadline, 0.02)
    except AssertionError:
        raise AssertionError(f"{replica} is not {state} ({why}) but {replicas(gateway)[replica]}") from None


def ask(gateway, prompt="p", **more):
    return idem_test.request(gateway.url, CHAT, body={"model": "m", "messages": [{"role": "user", "content": prompt}],
                                                      "temperature": 0, **more})


def change_environment(engine):
    assert idem_test.request(engine.url, "/simulate/environment", "POST").status == 200


def command(gateway, *words):
    done = subprocess.run([idem_test.BINARY, "replicas", *words, "--admin", gateway.admin.removeprefix("http://")],
                          env={**os.environ, "IDEM_ADMIN_TOKEN": gateway.token}, capture_output=True, text=True, timeout=30,
                          check=False)
    assert done.returncode == 0, done
    return done.stdout


def test_every_engine_is_admitted_and_a_version_bump_quarantines_it_until_the_epoch_moves():
    for name in ENGINES:
        engine = idem_test.simulate("--engine", name)
        gateway = gateway_for(name, {"a": engine.url})
        until(gateway, "a", "admitted")
        first = replicas(gateway)["a"]
        assert first["runs"] >= 2 and first["environment"], (name, first)
        known = {f["name"]: f for f in first["facts"]}
        assert known["gpu" if name != "tgi" else "driver"]["provenance"] in ("unknown", "reported"), (name, known)
        assert any(f["provenance"] == "reported" for f in known.values()), (name, known)
        was = epoch(gateway)
        if name != "lmdeploy":  # no endpoint of it tells a version
            change_environment(engine)
            until(gateway, "a", "quarantined", "environment_changed")
            assert epoch(gateway) == was
            opened = idem_test.admin(gateway, "/admin/v1/epochs", "POST", {"upstream": "up", "reason": "upgrade"})
            assert opened.status == 202, opened.body
            until(gateway, "a", "admitted")
            assert epoch(gateway) != was
        gateway.stop()
        engine.stop()


def test_where_no_endpoint_tells_a_version_the_declared_one_counts():
    for name in ("lmdeploy", "generic", "openai", "azure", "anthropic", "gemini", "mistral"):
        engine = idem_test.simulate("--engine", name)
        data = idem_test.scratch()

        def gateway_with(version):
            return gateway_for(name, {"a": engine.url}, {"environment": {"lock": {"engine_version": version}, "declared": ["engine_version"]}},
                               cache={"store": "embedded"}, data=data)

        gateway = gateway_with("1")
        until(gateway, "a", "admitted")
        was = epoch(gateway)
        gateway.stop()
        gateway = gateway_with("2")  # the operator has upgraded the engine, and says so
        until(gateway, "a", "quarantined", "environment_changed")
        assert epoch(gateway) == was, name
        opened = idem_test.admin(gateway, "/admin/v1/epochs", "POST", {"upstream": "up", "reason": "upgrade"})
        assert opened.status == 202, opened.body
        until(gateway, "a", "admitted")
        assert epoch(gateway) != was, name
        gateway.stop()
        engine.stop()


def test_lmdeploy_with_another_model_is_another_environment():
    engine = idem_test.simulate("--engine", "lmdeploy", "--model", "first")
    gateway = gateway_for("lmdeploy", {"a": engine.url})
    until(gateway, "a", "admitted")
    engine.stop()
    again = idem_test.Process([idem_test.BINARY, "simulate", "--engine", "lmdeploy", "--model", "second", "--listen", engine.url.removeprefix("http://")])
    until(gateway, "a", "quarantined", "environment_changed")
    again.kill()


def test_an_epoch_follows_the_majority_where_the_policy_says_so():
    engines = {name: idem_test.simulate("--engine", "vllm") for name in "abc"}
    gateway = gateway_for("vllm", {name: e.url for name, e in engines.items()}, {"environment": {"on_change": "new_epoch"}})
    for name in engines:
        until(gateway, name, "admitted")
    was = epoch(gateway)
    change_environment(engines["a"])
    until(gateway, "a", "quarantined", "environment_changed")
    assert epoch(gateway) == was, "one of three moved"
    change_environment(engines["b"])
    until(gateway, "a", "admitted")
    until(gateway, "b", "admitted")
    until(gateway, "c", "quarantined", "environment_changed")
    assert epoch(gateway) != was


def test_an_answer_that_an_environment_change_overtook_is_not_stored():
    for name in ENGINES:
        if name == "lmdeploy":
            continue
        engine = idem_test.simulate("--engine", name, "--tokens-per-second", "40", "--tokens", "40")
        gateway = gateway_for(name, {"a": engine.url}, {"admission": {"runs": 1}})
        until(gateway, "a", "admitted", deadline=30)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(ask(gateway, "overtaken", max_tokens=40)))
        asking.start()
        idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 1, "the call is being answered")
        change_environment(engine)
        asking.join()
        assert answers[0].status == 200, (name, answers[0].body)
        assert "detail=environment_changed" in answers[0]["Cache-Status"], (name, answers[0]["Cache-Status"])
        assert ask(gateway, "overtaken", max_tokens=40)["X-Cache"] == "MISS", name
        gateway.stop()
        engine.stop()


def test_an_answer_that_names_two_fingerprints_is_not_stored_whoever_made_it():
    for name in ("generic", "openai", "azure"):  # nobody watches there: the answer itself tells
        engine = idem_test.simulate("--engine", name, "--tokens-per-second", "40", "--tokens", "30")
        path = os.path.join(idem_test.scratch(), "idem.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "engine": name, "replicas": [{"id": "a", "url": engine.url}]}]}, file)
        gateway = idem_test.serve(config=path)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(ask(gateway, "overtaken", stream=True)))
        asking.start()
        idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 1, "the call is being answered")
        change_environment(engine)
        asking.join()
        assert answers[0].status == 200 and answers[0].body.count(b"system_fingerprint") > 1, (name, answers[0].body)
        again = ask(gateway, "overtaken", stream=True)
        assert again["X-Cache"] == "MISS", (name, again["X-Cache"])
        assert ask(gateway, "overtaken", stream=True)["X-Cache"] == "HIT", name
        gateway.stop()
        engine.stop()


def test_a_locked_fact_that_is_another_keeps_a_replica_out_and_a_declared_one_counts():
    engine = idem_test.simulate("--engine", "vllm", "--version-string", "0.33.0")
    lock = {"engine_version": "0.32.0", "attention_backend": "FLASH_ATTN"}
    gateway = gateway_for("vllm", {"a": engine.url}, {"environment": {"lock": lock, "declared": ["attention_backend"]}})
    until(gateway, "a", "quarantined", "locked_fact_differs")
    now = replicas(gateway)["a"]
    assert 'engine_version is "0.33.0", locked to "0.32.0"' in now["detail"], now
    assert {"name": "attention_backend", "value": "FLASH_ATTN", "provenance": "declared"} in now["facts"], now


def test_a_fingerprint_that_never_changes_is_not_trusted():
    engine = idem_test.simulate("--engine", "ollama")
    gateway = gateway_for("ollama", {"a": engine.url})
    until(gateway, "a", "admitted")
    assert ask(gateway).json()["system_fingerprint"] == "fp_ollama"
    assert replicas(gateway)["a"]["fingerprint"] == ""
    change_environment(engine)
    until(gateway, "a", "quarantined", "environment_changed")


def test_a_health_endpoint_that_joins_the_batch_is_asked_seldom():
    engine = idem_test.simulate("--engine", "sglang")
    gateway = gateway_for("sglang", {"a": engine.url})
    until(gateway, "a", "admitted")
    seen = engine.stats()["paths"]
    idem_test.wait_until(lambda: engine.stats()["paths"]["/v1/models"] > seen["/v1/models"] + 10, "it is looked after")
    assert engine.stats()["paths"]["/health"] == 1, engine.stats()


def test_a_template_that_writes_the_date_is_prompt_drift():
    engines = [idem_test.simulate("--engine", "vllm", "--dated-template", "--latency", "100") for _ in range(2)]
    gateway = gateway_for("vllm", {"a": engines[0].url, "b": engines[1].url}, {"admission": {"runs": 20}})
    idem_test.wait_until(lambda: any(r["why"] in ("prompt_drift", "output_flipped") for r in replicas(gateway).values()),
                         "the drift is seen", 30)
    assert any(r["why"] == "prompt_drift" for r in replicas(gateway).values()), replicas(gateway)


def test_outputs_that_differ_quarantine_a_replica_but_never_most_of_them():
    good = [idem_test.simulate("--engine", "vllm") for _ in range(3)]
    urls = {f"g{i}": e.url for i, e in enumerate(good)}
    odd = idem_test.simulate("--engine", "vllm", "--flip-hazard", "1")
    gateway = gateway_for("vllm", {**urls, "odd": odd.url})
    for name in urls:
        until(gateway, name, "admitted")
    until(gateway, "odd", "quarantined")
    assert replicas(gateway)["odd"]["why"] in ("output_flipped", "output_differs")
    alone = gateway_for("vllm", {"odd": odd.url})
    until(alone, "odd", "admitted")
    now = replicas(alone)["odd"]
    assert now["diverging"] and now["runs"] == 0, now


def test_a_replica_that_was_killed_is_attested_before_it_is_admitted_again():
    engine = idem_test.simulate("--engine", "llamacpp")
    gateway = gateway_for("llamacpp", {"a": engine.url})
    until(gateway, "a", "admitted")
    engine.kill()
    until(gateway, "a", "down")
    again = idem_test.Process([idem_test.BINARY, "simulate", "--engine", "llamacpp", "--listen", f"127.0.0.1:{engine.ports[0]}"])
    until(gateway, "a", "admitted")
    assert replicas(gateway)["a"]["runs"] == 2, "the runs before count no more"
    assert idem_test.metric(gateway, "idem_replica_transitions_total", replica="a", state="down") == 1
    assert idem_test.metric(gateway, "idem_replica_state", replica="a", state="admitted") == 1
    again.stop()


def test_orders_by_hand_hold_over_a_restart_and_readmission_attests():
    engine = idem_test.simulate("--engine", "vllm")
    data = idem_test.scratch()
    store = {"store": "embedded", "embedded": {"path": data}}
    gateway = gateway_for("vllm", {"a": engine.url}, cache=store, data=data)
    until(gateway, "a", "admitted")
    assert "ordered" in command(gateway, "quarantine", "a")
    until(gateway, "a", "quarantined", "operator_order")
    gateway.stop()
    gateway = gateway_for("vllm", {"a": engine.url}, cache=store, data=data)
    until(gateway, "a", "quarantined", "operator_order")
    calls = engine.stats()["calls"]
    command(gateway, "readmit", "a")
    until(gateway, "a", "admitted")
    assert engine.stats()["calls"] > calls
    command(gateway, "drain", "a")
    until(gateway, "a", "draining", "operator_order")
    assert ask(gateway).status == 503
    command(gateway, "readmit", "a")
    until(gateway, "a", "admitted")
    table = command(gateway, "list")
    assert table.splitlines()[0].split()[:3] == ["UPSTREAM", "REPLICA", "STATE"], table
    assert "admitted" in table and "none" in table, table
    assert json.loads(command(gateway, "list", "-o", "json"))["upstreams"][0]["name"] == "up"


def test_an_operator_sets_the_reference_where_there_is_no_majority():
    plain = idem_test.simulate("--engine", "generic", "--tokens", "32")
    other = idem_test.simulate("--engine", "generic", "--model", "simulated")
    change_environment(other)
    gateway = gateway_for("generic", {"plain": plain.url, "other": other.url}, {"quarantine": {"max_share": "50%"}})
    until(gateway, "plain", "probing", "awaiting_reference")
    until(gateway, "other", "probing", "awaiting_reference")
    command(gateway, "attest", "plain", "--record")
    until(gateway, "plain", "admitted")
    until(gateway, "other", "quarantined", "output_differs")
    assert "golden prompt" in replicas(gateway)["other"]["detail"]


def test_wrong_orders_are_refused_with_what_to_do():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = gateway_for("vllm", {"a": engine.url})
    for method, path, status in (("POST", "/admin/v1/replicas/none/attest", 404), ("POST", "/admin/v1/replicas/a/shoot", 404),
                                 ("GET", "/admin/v1/replicas/a/attest", 405), ("POST", "/admin/v1/replicas", 405),
                                 ("POST", "/admin/v1/replicas/%zz/attest", 404), ("POST", "/admin/v1/epochs", 400)):
        answer = idem_test.admin(gateway, path, method)
        assert answer.status == status, (path, answer.status, answer.body)
        assert answer.json()["detail"], path
    assert idem_test.request(gateway.admin, "/admin/v1/replicas").status == 401
    plain = idem_test.serve(engine.url)
    answer = idem_test.admin(plain, "/admin/v1/replicas/r1/attest", "POST")
    assert answer.status == 409 and "probe" in answer.json()["detail"], answer.body
    done = subprocess.run([idem_test.BINARY, "replicas", "attest", "none", "--admin", gateway.admin.removeprefix("http://")],
                          env={**os.environ, "IDEM_ADMIN_TOKEN": gateway.token}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "no upstream has a replica of this id" in done.stderr, done


def test_several_gateways_on_one_store_probe_once_and_agree():
    engine = idem_test.simulate("--engine", "vllm")
    redis = idem_test.redis_server()
    store = {"store": "redis", "redis": {"urls": [redis.url]}}
    gateways = [gateway_for("vllm", {"a": engine.url}, cache=store) for _ in range(3)]
    for gateway in gateways:
        until(gateway, "a", "admitted")
    runs = replicas(gateways[0])["a"]["runs"]
    assert sum(g.output().count("reference_set") for g in gateways) == 1, "one reference, set once"
    assert engine.stats()["calls"] == runs * 4, (engine.stats(), runs)  # four golden prompts, by one of three
    assert len({epoch(g) for g in gateways}) == 1
    command(gateways[1], "quarantine", "a")
    for gateway in gateways:
        until(gateway, "a", "quarantined", "operator_order")
    command(gateways[2], "readmit", "a")
    for gateway in gateways:
        until(gateway, "a", "admitted")
    # Whoever watches goes; another takes over, and goes on from what was found.
    runs, calls = replicas(gateways[2])["a"]["runs"], engine.stats()["calls"]
    checked = idem_test.metric(gateways[2], "idem_replica_transitions_total", replica="a", state="admitted")
    for gateway in gateways[:2]:
        gateway.kill()
    paths = engine.stats()["paths"]["/health"]
    idem_test.wait_until(lambda: engine.stats()["paths"]["/health"] > paths + 5, "somebody watches", 20)
    assert replicas(gateways[2])["a"]["runs"] == runs and engine.stats()["calls"] == calls, "it began anew"
    assert idem_test.metric(gateways[2], "idem_replica_transitions_total", replica="a", state="admitted") == checked
    change_environment(engine)
    until(gateways[2], "a", "quarantined", "environment_changed", deadline=30)


def test_strict_stays_in_the_environment_of_the_epoch_or_says_503():
    engines = {name: idem_test.simulate("--engine", "vllm") for name in "ab"}
    gateway = gateway_for("vllm", {name: e.url for name, e in engines.items()}, **STRICT)
    for name in engines:
        until(gateway, name, "admitted")
    served = {ask(gateway, f"p{i}")["Idem-Replica"] for i in range(20)}
    assert served == {"a", "b"}
    change_environment(engines["a"])
    until(gateway, "a", "quarantined", "environment_changed")
    before = engines["a"].stats()["calls"]
    for i in range(20):
        answer = ask(gateway, f"q{i}")
        assert answer.status == 200 and answer["Idem-Replica"] == "b", answer.headers
    assert engines["a"].stats()["calls"] == before, "strict left the environment"
    change_environment(engines["b"])
    until(gateway, "b", "quarantined", "environment_changed")
    answer = ask(gateway, "r")
    assert answer.status == 503 and answer.json()["error"]["code"] == "determinism_unavailable", answer.body
    assert answer["Retry-After"], answer.headers
    assert ask(gateway, "p1")["X-Cache"] == "HIT", "what is stored is served"


def test_a_strict_answer_says_what_it_is_worth():
    one, two = (idem_test.simulate("--engine", "vllm") for _ in range(2))
    invariant = {"concurrency": {"mode": "batch_invariant"}}
    gateway = gateway_for("vllm", {"a": one.url}, invariant, **STRICT)
    until(gateway, "a", "admitted")
    answer = ask(gateway)
    assert answer["Idem-Guarantee"] == "replica; mode=batch_invariant; runs=2; bound=0.7764", answer["Idem-Guarantee"]
    assert ask(gateway)["Idem-Guarantee"] == answer["Idem-Guarantee"], "a hit says what its fill was worth"
    assert answer["Idem-Environment"] == replicas(gateway)["a"]["environment"]
    entry = idem_test.admin(gateway, f"/admin/v1/entries/{answer['Idem-Key']}").json()
    assert entry["guarantee"] == answer["Idem-Guarantee"]
    # What the golden prompts say nothing of, and what nobody here knows.
    embedding = idem_test.request(gateway.url, "/v1/embeddings", body={"model": "m", "input": "p"})
    assert embedding.status == 200 and embedding["Idem-Guarantee"] == "none", embedding.headers
    for more, promise in (({"lora_adapters": ["x"]}, "none"), ({"logits_processors": ["x"]}, "none"), ({"lora_adapters": None}, "replica"),
                          ({"max_tokens": 5, "stop": ["x"], "user": "u", "metadata": {}}, "replica")):
        answer = ask(gateway, "members", **more)
        assert answer.status == 200 and answer["Idem-Guarantee"].startswith(promise), (more, answer.headers)
        assert ask(gateway, "members", **more)["X-Cache"] == "HIT", more
    pair = gateway_for("vllm", {"a": one.url, "b": two.url}, invariant, **STRICT)
    until(pair, "a", "admitted")
    until(pair, "b", "admitted")
    assert ask(pair)["Idem-Guarantee"].startswith("class; "), ask(pair).headers
    engine = idem_test.simulate("--engine", "llamacpp")
    shared = gateway_for("llamacpp", {"a": engine.url}, **STRICT)
    until(shared, "a", "admitted")
    assert ask(shared)["Idem-Guarantee"] == "none", "others may call it, too"
    alone = gateway_for("llamacpp", {"a": engine.url}, {"exclusive": True}, **STRICT)
    until(alone, "a", "admitted")
    assert ask(alone)["Idem-Guarantee"].startswith("replica; mode=serial; "), ask(alone).headers


def test_strict_waits_for_a_returning_replica_to_be_attested():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = gateway_for("vllm", {"a": engine.url}, **STRICT)
    until(gateway, "a", "admitted")
    assert ask(gateway, "before").status == 200
    engine.kill()
    for i in range(3):
        answer = ask(gateway, f"gone {i}")
        assert (answer.status, answer.json()["error"]["code"]) == (503, "determinism_unavailable"), answer.body
    again = idem_test.Process([idem_test.BINARY, "simulate", "--engine", "vllm", "--listen", f"127.0.0.1:{engine.ports[0]}",
                               "--latency", "100"])
    answers = []
    idem_test.wait_until(lambda: answers.append(ask(gateway, f"back {len(answers)}")) or answers[-1].status == 200, "it is back", 20)
    assert {a.json()["error"]["code"] for a in answers[:-1]} <= {"determinism_unavailable"}
    stats = idem_test.request(f"http://127.0.0.1:{engine.ports[0]}", "/simulate/stats").json()
    assert stats["calls"] == 4 * 2 + 1, stats  # two runs of four golden prompts came first
    again.stop()


def guarded(engine, header):
    """`engine` behind a door that lets only those in to its models and calls who have a key, as vLLM's --api-key does."""
    def answer(request):
        head, _, body = request.partition(b"\r\n\r\n")
        method, path = head.split(b" ")[0].decode(), head.split(b" ")[1].decode()
        if path.startswith("/v1/") and f"\r\n{header}: ".encode().lower() not in head.lower():
            return b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "keep"
        told = idem_test.request(engine.url, path, method, body or None)
        return (f"HTTP/1.1 {told.status} OK\r\nContent-Type: {told['Content-Type']}\r\nContent-Length: {len(told.body)}\r\n\r\n".encode() +
                told.body), "keep"
    return raw_upstream.RawUpstream(answer)


def test_the_facts_after_a_strict_fill_are_read_as_those_before_it():
    engine = idem_test.simulate("--engine", "vllm")
    own = gateway_for("vllm", {"a": guarded(engine, "X-Gateway-Key").url}, {"credentials": {"header": "X-Gateway-Key", "value": "k"}}, **STRICT)
    until(own, "a", "admitted")
    answer = ask(own)
    assert answer.status == 200 and "environment_changed" not in answer["Cache-Status"], answer.headers
    assert ask(own)["X-Cache"] == "HIT"
    # The client's key opens what the watcher cannot see: that is no change.
    passed_on = gateway_for("vllm", {"a": guarded(engine, "Authorization").url}, {"admission": {"runs": 0}}, **STRICT)
    until(passed_on, "a", "admitted")
    body = {"model": "m", "messages": [{"role": "user", "content": "p"}]}
    answers = [idem_test.request(passed_on.url, CHAT, body=body, headers={"Authorization": "Bearer k"}) for _ in range(2)]
    assert [a["X-Cache"] for a in answers] == ["MISS", "HIT"], [a.headers for a in answers]


if __name__ == "__main__":
    idem_test.main(globals())
