#!/usr/bin/env python3
"""Every reason of tests/golden/reasons.txt, provoked from outside and seen where operators look: in the answer, the access log, the metrics."""
import hashlib
import json
import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

CHAT = "/v1/chat/completions"
GOLDEN = (idem_test.ROOT / "tests" / "golden" / "reasons.txt").read_text().split()
# What nothing outside the process can bring about: the doctest case that does so from inside.
FROM_INSIDE = {"internal_error": ("tests/component/gateway/http/server_test.cpp", "a handler that throws costs one 500"),
               "lease_lapsed": ("tests/component/upstream/route/slots_test.cpp", "under a lease nobody begins before it is held, and a lapse is told to those who run"),
               "abort_unconfirmed": ("tests/component/upstream/route/slots_test.cpp", "a doubtful replica tells who begins before the doubt is over")}
PROVOKED = {}


def provokes(*reasons):
    """A case that ends without having seen each of `reasons` fails."""
    def mark(case):
        def run():
            seen.clear()
            case()
            assert set(reasons) <= seen, f"not seen: {set(reasons) - seen}"
        for reason in reasons:
            PROVOKED.setdefault(reason, []).append(case.__name__)
        return run
    return mark


seen = set()


def logged(gateway, reason):
    lines = (json.loads(line) for line in gateway.output().splitlines() if line.startswith("{"))
    return [line for line in lines if line.get("msg") == "access" and line["cache"].get("reason") == reason]


def told(answer, reason):
    """In Cache-Status, or as the code of an error of ours: in the body, or in the event that ends a broken stream."""
    status = answer.headers.get("cache-status", "")
    return f"detail={reason}" in status.split("; ") or f'"{reason}"'.encode() in answer.body


def check(gateway, reason, answer=None, log=True, metric=None):
    """`answer` must name the reason; so must a line of the access log; so must a sample of `metric`."""
    if answer is not None:
        assert told(answer, reason), (reason, answer.status, answer.headers, answer.body[-300:])
    if log:
        idem_test.wait_until(lambda: logged(gateway, reason), f"{reason} is in the access log", 10)
    if metric:
        idem_test.wait_until(lambda: idem_test.metric(gateway, metric, reason=reason) > 0, f"{reason} is in {metric}", 10)
    assert answer is not None or log or metric
    seen.add(reason)


def chat(prompt, **more):
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}], **more}).encode()


def send(gateway, data, timeout=30):
    with wire.connect(gateway.url, timeout) as connection:
        connection.sendall(data)
        return wire.read_answer(connection)


def ask(gateway, body, headers=None, path=CHAT, method="POST"):
    return send(gateway, wire.post_bytes(path, body, headers, method))


def configured(url, timeouts=None, engine="generic", **more):
    """A gateway with a configuration file."""
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    document = {"cache": {"store": "memory"}, **more}
    document["upstreams"] = [{"name": "up", "engine": engine, "probe": "off", "replicas": [{"id": "r1", "url": url}], **({"timeouts": timeouts} if timeouts else {})}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return idem_test.serve(config=path)


def answer_of(content="hi", finish="stop", **more):
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}, **more}


def prompt_of(request):
    return json.loads(request.partition(b"\r\n\r\n")[2])["messages"][0]["content"]


GOOD = raw_upstream.sized(json.dumps(answer_of()))


def event(delta, finish=None):
    value = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
             "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(value)}\n\n"


# ---- Calls that are not looked up -------------------------------------------------------------------------------------

UNCACHED = {
    "not_cacheable_path": (b"", {}, "/v1/files"),
    "body_too_large": (chat("x" * 300_000), {}, CHAT),
    "body_not_json": (b'{"model":"m",}', {}, CHAT),
    "body_invalid_utf8": (b'{"model":"m","messages":"\xff"}', {}, CHAT),
    "body_duplicate_key": (b'{"model":"m","model":"n","messages":[]}', {}, CHAT),
    "body_too_deep": (b'{"model":"m","messages":' + b"[" * 300 + b"]" * 300 + b"}", {}, CHAT),
    "body_number_range": (b'{"model":"m","messages":[],"seed":1e400}', {}, CHAT),
    "body_encoding": (chat("x"), {"Content-Encoding": "br"}, CHAT),
    "missing_model": (b'{"messages":[]}', {}, CHAT),
    "stateful_call": (chat("x", store=True), {}, CHAT),
    "time_dependent_call": (chat("x", web_search_options={}), {}, CHAT),
    "side_effecting_call": (json.dumps({"model": "m", "input": "x", "tools": [{"type": "shell"}]}).encode(), {}, "/v1/responses"),
    "form_unsupported": (b'{"contents":[{"parts":[{"text":"x"}]}]}', {}, "/v1beta/models/m:streamGenerateContent"),
    "no_generation": (b'{"model":"m","messages":[]}', {}, "/api/chat"),
}


@provokes(*UNCACHED, "content_type", "loop_detected", "no_store_request", "no_cache_request", "refreshed", "max_age_exceeded", "origin_unknown",
          "only_if_cached", "bad_control", "idempotency_mismatch")
def test_calls_that_are_not_looked_up_or_ask_for_something_else():
    upstream = raw_upstream.RawUpstream(lambda request: (GOOD, "keep"))
    gateway = idem_test.serve(upstream.url, "--set", "listen.body=256KiB")
    for reason, (body, headers, path) in UNCACHED.items():
        check(gateway, reason, ask(gateway, body, headers, path), metric="idem_bypass_total")
    text = wire.post_bytes(CHAT, chat("x")).replace(b"application/json", b"text/plain")
    check(gateway, "content_type", send(gateway, text), metric="idem_bypass_total")
    via = ask(gateway, chat("kept")).headers["via"]
    check(gateway, "loop_detected", ask(gateway, chat("kept"), {"Via": via}), metric="idem_bypass_total")
    check(gateway, "no_store_request", ask(gateway, chat("unkept"), {"Cache-Control": "no-store"}), metric="idem_not_stored_total")
    check(gateway, "origin_unknown", ask(gateway, chat("kept"), {"Origin": "https://page.example"}), metric="idem_not_stored_total")
    check(gateway, "no_cache_request", ask(gateway, chat("kept"), {"Cache-Control": "no-cache"}))
    check(gateway, "refreshed", log=False, metric="idem_not_stored_total")
    idem_test.wait_until(lambda: "max_age_exceeded" in ask(gateway, chat("kept"), {"Cache-Control": "max-age=1"}).headers["cache-status"],
                         "the answer is older than a second", 10, 0.2)
    check(gateway, "max_age_exceeded")
    check(gateway, "only_if_cached", ask(gateway, chat("never asked"), {"Cache-Control": "only-if-cached"}))
    check(gateway, "bad_control", ask(gateway, chat("x"), {"Idem-TTL": "soon"}), metric="idem_bypass_total")
    assert ask(gateway, chat("one"), {"Idempotency-Key": "name"}).status == 200
    check(gateway, "idempotency_mismatch", ask(gateway, chat("two"), {"Idempotency-Key": "name"}), metric="idem_bypass_total")


@provokes("offline", "parameter_conflict", "no_deterministic_form")
def test_what_policies_refuse():
    upstream = raw_upstream.RawUpstream(lambda request: (GOOD, "keep"))
    gateway = configured(upstream.url, engine="vllm", routes=[{"match": {"model": "stored"}, "policy": "offline"}, {"policy": "strict"}])
    check(gateway, "offline", ask(gateway, chat("x", model="stored")))
    check(gateway, "parameter_conflict", ask(gateway, chat("x", temperature=1)), metric="idem_bypass_total")
    check(gateway, "no_deterministic_form", ask(gateway, b'{"model":"m","input":"x"}', path="/v1/responses"),
          metric="idem_bypass_total")
    assert not upstream.requests, "nothing of this goes upstream"


@provokes("policy_bypass", "not_eligible", "no_route")
def test_what_routes_and_policies_decide():
    upstream = raw_upstream.RawUpstream(lambda request: (GOOD, "keep"))
    gateway = configured(upstream.url, policies={"greedy": {"eligible": "greedy"}}, routes=[
        {"match": {"model": "plain"}, "policy": "bypass"}, {"match": {"model": "greedy"}, "policy": "greedy"}])
    for reason, model in (("policy_bypass", "plain"), ("not_eligible", "greedy"), ("no_route", "other")):
        check(gateway, reason, ask(gateway, chat("x", model=model)), metric="idem_bypass_total")


@provokes("untrusted_scope", "credential_unproven", "unauthorized")
def test_who_may_share_and_who_may_call():
    upstream = raw_upstream.RawUpstream(lambda request: (GOOD, "keep"))
    gateway = idem_test.serve(upstream.url, "--set", "cache.scope=header:X-Team", "--set", "listen.trusted=10.0.0.0/8")
    check(gateway, "untrusted_scope", ask(gateway, chat("x"), {"X-Team": "a"}), metric="idem_bypass_total")
    gateway = idem_test.serve(upstream.url, "--set", "cache.scope=shared")
    check(gateway, "credential_unproven", ask(gateway, chat("x"), {"Authorization": "Bearer a"}), metric="idem_bypass_total")
    clients = os.path.join(idem_test.scratch(), "clients")
    with open(clients, "w", encoding="utf-8") as file:
        file.write(f"somebody {hashlib.sha256(b'secret').hexdigest()}\n")
    gateway = idem_test.serve(upstream.url, "--set", f"listen.clients={clients}")
    check(gateway, "unauthorized", ask(gateway, chat("x"), {"Authorization": "Bearer other"}), metric="idem_bypass_total")
    assert ask(gateway, chat("x"), {"Authorization": "Bearer secret"}).status == 200


@provokes("bodies_too_many")
def test_uploads_beyond_the_memory_for_them():
    """Four uploads of 63 MiB that wait for their last byte fill 252 of 256 MiB: the fifth streams through."""
    upstream = raw_upstream.RawUpstream(lambda request: (GOOD, "keep"))
    gateway = idem_test.serve(upstream.url)
    size = 63 << 20
    head = f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n".encode()
    piece = b" " * (1 << 20)
    held = [wire.connect(gateway.url, 60) for _ in range(5)]
    for connection in held:
        connection.sendall(head)
        for _ in range(62):
            connection.sendall(piece)
        connection.sendall(piece[1:])
    held[4].sendall(b" ")
    check(gateway, "bodies_too_many", wire.read_answer(held[4]), metric="idem_bypass_total")
    for connection in held:
        connection.close()


# ---- Answers that are not stored --------------------------------------------------------------------------------------

def close_delimited(body):
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{body}".encode()


WHOLE = json.dumps(answer_of())
NOT_STORED = {
    "status_not_ok": (raw_upstream.sized(WHOLE, status="201 Created"), "keep", False),
    "unexpected_content_type": (raw_upstream.sized(WHOLE, "text/html"), "keep", False),
    "content_encoded": (raw_upstream.sized(WHOLE, extra="Content-Encoding: br\r\n"), "keep", False),
    "upstream_no_store": (raw_upstream.sized(WHOLE, extra="Vary: *\r\n"), "keep", False),
    "close_delimited": (close_delimited(WHOLE), "fin", False),
    "upstream_truncated": (close_delimited(WHOLE[:-9]), "fin", False),
    "framing_incomplete": (GOOD[:-9], "fin", False),
    "terminal_missing": (raw_upstream.chunked([event({"role": "assistant", "content": "x"}), event({}, "stop")]), "keep", True),
    "choice_unfinished": (raw_upstream.sized(json.dumps(answer_of(finish=None))), "keep", False),
    "no_choices": (raw_upstream.sized('{"choices":[]}'), "keep", False),
    "error_in_answer": (raw_upstream.sized('{"error":{"message":"no"}}'), "keep", False),
    "answer_malformed": (raw_upstream.sized('{"choices":[7]}'), "keep", False),
    "answer_truncated": (raw_upstream.sized(json.dumps(answer_of(finish="length"))), "keep", False),
    "content_filtered": (raw_upstream.sized(json.dumps(answer_of(finish="content_filter"))), "keep", False),
    "entry_too_large": (raw_upstream.sized(json.dumps(answer_of("y" * 100_000))), "keep", False),
}


@provokes(*NOT_STORED)
def test_answers_that_are_not_stored():
    upstream = raw_upstream.RawUpstream(lambda request: NOT_STORED[prompt_of(request)][:2])
    gateway = idem_test.serve(upstream.url, "--set", "cache.entry=64KiB")
    for reason, (_, _, stream) in NOT_STORED.items():
        answers = [ask(gateway, chat(reason, stream=stream)) for _ in range(2)]
        assert [a.headers["x-cache"] for a in answers] == ["MISS", "MISS"], (reason, answers[1].headers)
        early = reason in ("terminal_missing", "entry_too_large")  # the head is gone before the end is known
        check(gateway, reason, None if early else answers[0], metric="idem_not_stored_total")
    assert idem_test.metric(gateway, "idem_stored_total") == 0


def watched(engine, policy="relaxed", state="admitted", lock=None, runs=1):
    """A gateway before a simulated vLLM whose replica it watches, when that is in `state`."""
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    upstream = {"name": "up", "engine": "vllm", "probe": "on", "replicas": [{"id": "r1", "url": engine.url}],
                "environment": {"interval": "100ms", "lock": lock or {}}, "admission": {"health_interval": "100ms", "runs": runs}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [upstream], "routes": [{"upstream": "up", "policy": policy}]}, file)
    gateway = idem_test.serve(config=path)
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_replica_state", state=state) == 1, f"it is {state}", 30)
    return gateway


@provokes("environment_changed")
def test_an_environment_that_changes_during_a_fill():
    engine = idem_test.simulate("--engine", "vllm", "--tokens-per-second", "40")
    gateway = watched(engine)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(ask(gateway, chat("x", temperature=0, max_tokens=40))))
    asking.start()
    idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 1, "it is being answered")
    idem_test.request(engine.url, "/simulate/environment", "POST")
    asking.join()
    check(gateway, "environment_changed", answers[0], metric="idem_not_stored_total")


@provokes("determinism_unavailable")
def test_a_strict_call_where_no_replica_is_admitted():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = watched(engine, "strict", state="quarantined", lock={"engine_version": "another"})
    answer = ask(gateway, chat("x"))
    assert answer.status == 503 and "retry-after" in answer.headers, answer.headers
    assert b"r1 is quarantined (locked_fact_differs)" in answer.body, answer.body
    check(gateway, "determinism_unavailable", answer)


@provokes("epoch_readonly")
def test_an_epoch_whose_environment_is_gone():
    engine = idem_test.simulate("--engine", "vllm")
    gateway = watched(engine, "strict")
    stored = ask(gateway, chat("kept"))
    assert stored.status == 200 and ask(gateway, chat("kept")).headers["x-cache"] == "HIT", stored.headers
    first = idem_test.admin(gateway, "/admin/v1/epochs").json()["epochs"][0]["epoch"]
    idem_test.request(engine.url, "/simulate/environment", "POST", b"")

    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_replica_state", state="quarantined") == 1, "the change is seen", 20)
    assert idem_test.admin(gateway, "/admin/v1/epochs", "POST", {"upstream": "up", "reason": "t"}).status == 202
    idem_test.wait_until(lambda: ask(gateway, chat("new")).status == 200, "the new environment answers in an epoch of its own", 20, 0.1)
    assert idem_test.admin(gateway, f"/admin/v1/epochs/{first}/activate", "POST", {}).status == 202
    idem_test.wait_until(lambda: ask(gateway, chat("kept")).body == stored.body, "what was stored is given", 10)
    answer = ask(gateway, chat("not kept"))
    assert answer.status == 503 and "retry-after" in answer.headers, answer.headers
    check(gateway, "epoch_readonly", answer)


@provokes("prompt_drift")
def test_a_prompt_whose_length_depends_on_the_clock():
    engine = idem_test.simulate("--engine", "vllm", "--dated-template")
    gateway = watched(engine, "strict", runs=0)
    answers = []

    def drifts():
        answers.append(ask(gateway, chat("x"), {"Idem-TTL": "1"}))
        return told(answers[-1], "prompt_drift")
    idem_test.wait_until(drifts, "another number of prompt tokens", 20, 0.3)
    check(gateway, "prompt_drift", answers[-1], metric="idem_not_stored_total")


@provokes("fill_cancelled", "client_gone")
def test_clients_that_leave():
    upstream = raw_upstream.RawUpstream(lambda request: (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n", "keep"))
    gateway = idem_test.serve(upstream.url)
    with wire.connect(gateway.url) as connection:
        connection.sendall(wire.post_bytes(CHAT, chat("x", stream=True)))
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    check(gateway, "fill_cancelled", log=False, metric="idem_not_stored_total")
    check(gateway, "client_gone")
    with wire.connect(gateway.url) as connection:  # in the middle of an upload
        connection.sendall(wire.post_bytes(CHAT, chat("x"))[:-5])
    idem_test.wait_until(lambda: any(line["status"] == 499 for line in logged(gateway, "client_gone")), "the upload is in the log", 10)


@provokes("fill_invalidated")
def test_an_entry_deleted_while_it_is_filled():
    proceed = threading.Event()
    upstream = raw_upstream.RawUpstream(lambda request: (GOOD, "keep") if proceed.wait(20) else (b"", "fin"))
    gateway = idem_test.serve(upstream.url)
    proceed.set()
    key = ask(gateway, chat("x")).headers["idem-key"]
    assert idem_test.admin(gateway, f"/admin/v1/entries/{key}", "DELETE").status == 200
    proceed.clear()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask(gateway, chat("x"))))
    thread.start()
    idem_test.wait_until(lambda: len(upstream.requests) == 2, "the fill is under way")
    deleted = idem_test.admin(gateway, f"/admin/v1/entries/{key}", "DELETE")
    assert (deleted.status, deleted.json()) == (200, {"erased": False, "fill_invalidated": True}), deleted.body
    proceed.set()
    thread.join()
    check(gateway, "fill_invalidated", answers[0], metric="idem_not_stored_total")


@provokes("lost_race", "lost_race_differs")
def test_another_gateway_stores_first():
    redis = idem_test.redis_server()
    for reason, contents in (("lost_race", ["same", "same"]), ("lost_race_differs", ["one", "two"])):
        both, left = threading.Barrier(2), list(contents)

        def answer(request, both=both, left=left):
            if prompt_of(request) != "warm":
                both.wait(20)
                return raw_upstream.sized(json.dumps(answer_of(left.pop()))), "keep"
            return GOOD, "keep"

        upstream = raw_upstream.RawUpstream(answer)
        gateways = [idem_test.serve(upstream.url, "--redis", redis.url, store="redis") for _ in range(2)]
        for gateway in gateways:
            idem_test.wait_until(lambda g=gateway: "state_unknown" not in ask(g, chat("warm")).headers["cache-status"], "the epoch is known", 10)
        answers = {}
        threads = [threading.Thread(target=lambda n=n: answers.update({n: ask(gateways[n], chat(reason))})) for n in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers[0].body == answers[1].body, "an answer in object form is the stored one, whoever computed it"
        loser = next(n for n in (0, 1) if told(answers[n], reason))
        check(gateways[loser], reason, answers[loser], metric="idem_not_stored_total")


@provokes("form_lossy")
def test_a_form_that_cannot_be_kept_beside_the_first():
    def answer(request):
        if b'"stream": true' in request:
            return raw_upstream.chunked([event({"role": "assistant", "content": "other words"}), event({}, "stop"), "data: [DONE]\n\n"]), "keep"
        return raw_upstream.sized(json.dumps(answer_of(obfuscation="no stream carries this"))), "keep"

    gateway = idem_test.serve(raw_upstream.RawUpstream(answer).url)
    ask(gateway, chat("x"))
    ask(gateway, chat("x", stream=True))
    check(gateway, "form_lossy", metric="idem_not_stored_total")


@provokes("items_partial")
def test_a_batch_of_which_some_is_known():
    engine = idem_test.simulate()
    gateway = configured(engine.url, policies={"each": {"items": "batch"}}, routes=[{"policy": "each"}])
    inputs = lambda *texts: json.dumps({"model": "m", "input": texts}).encode()
    ask(gateway, inputs("a", "b"), path="/v1/embeddings")
    check(gateway, "items_partial", ask(gateway, inputs("a", "c"), path="/v1/embeddings"))


# ---- The second tier --------------------------------------------------------------------------------------------------

@provokes("secret_mismatch")
def test_a_gateway_with_another_secret():
    redis, upstream = idem_test.redis_server(), raw_upstream.RawUpstream(lambda request: (GOOD, "keep"))
    one = idem_test.serve(upstream.url, "--redis", redis.url, "--set", "cache.key_secret=one", store="redis")
    idem_test.wait_until(lambda: ask(one, chat("x")).headers["x-cache"] == "HIT", "it caches", 10, 0.05)
    other = idem_test.serve(upstream.url, "--redis", redis.url, "--set", "cache.key_secret=two", store="redis", wait="/livez")
    idem_test.wait_until(lambda: told(ask(other, chat("x")), "secret_mismatch"), "it is told", 10, 0.05)
    check(other, "secret_mismatch", ask(other, chat("x")), metric="idem_bypass_total")


@provokes("state_unknown", "entry_corrupt", "entry_unreadable", "store_unavailable", "store_timeout", "store_open_breaker")
def test_the_second_tier():
    upstream = raw_upstream.RawUpstream(lambda request: (GOOD, "keep"))
    port = idem_test.free_port()
    gateway = idem_test.serve(upstream.url, "--redis", f"redis://127.0.0.1:{port}", "--set", "cache.memory=0", store="redis")
    check(gateway, "state_unknown", ask(gateway, chat("early")), metric="idem_bypass_total")
    redis = idem_test.redis_server(port)
    idem_test.wait_until(lambda: ask(gateway, chat("x")).headers["x-cache"] == "HIT", "Redis is in use", 10, 0.05)
    name = "idem:{" + ask(gateway, chat("x")).headers["idem-key"] + "}:e"
    redis.command("SET", name, "nonsense")
    ask(gateway, chat("x"))
    check(gateway, "entry_corrupt", log=False, metric="idem_store_errors_total")
    redis.command("DEL", name)
    redis.command("LPUSH", name, "another type")
    check(gateway, "entry_unreadable", ask(gateway, chat("x")), metric="idem_store_errors_total")
    redis.command("REPLICAOF", "127.0.0.1", "1")
    check(gateway, "store_unavailable", ask(gateway, chat("refused by a replica")), metric="idem_store_errors_total")
    redis.command("REPLICAOF", "NO", "ONE")
    redis.signal(signal.SIGSTOP)
    check(gateway, "store_timeout", ask(gateway, chat("stopped")), metric="idem_store_errors_total")
    numbers = iter(range(1000))
    answers = []

    def refused_at_once():
        answers.append(ask(gateway, chat(f"stopped {next(numbers)}")))
        return told(answers[-1], "store_open_breaker")

    idem_test.wait_until(refused_at_once, "the breaker is open", 10, 0.02)
    check(gateway, "store_open_breaker", answers[-1], metric="idem_store_errors_total")


# ---- Failures ---------------------------------------------------------------------------------------------------------

MALFORMED = {
    "bad_request": b"GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "unsupported_framing": b"POST /v1/files HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "header_too_large": b"GET /v1/models HTTP/1.1\r\nHost: a\r\n" + b"".join(b"x-%d: y\r\n" % n for n in range(5000)) + b"\r\n",
    "uri_too_long": b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    "length_required": b"POST /v1/files HTTP/1.1\r\nHost: a\r\n\r\n",
    "expectation_failed": b"POST /v1/files HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: wonders\r\n\r\n",
    "request_timeout": b"GET /v1/mod",
}


@provokes(*MALFORMED)
def test_requests_that_are_none():
    gateway = idem_test.serve(idem_test.simulate().url, "--set", "listen.timeouts.head=500ms")
    for reason, data in MALFORMED.items():
        check(gateway, reason, send(gateway, data), metric="idem_bypass_total")


@provokes("overloaded")
def test_more_connections_than_allowed():
    gateway = idem_test.serve(idem_test.simulate().url, "--set", "listen.connections=1", "--set", "listen.threads=1")
    with wire.connect(gateway.url) as first:
        first.sendall(wire.post_bytes(CHAT, chat("x")))
        assert wire.read_answer(first).status == 200
        with wire.connect(gateway.url) as second:
            answer = wire.read_answer(second)
        assert answer.status == 503
        check(gateway, "overloaded", answer, metric="idem_bypass_total")


@provokes("draining")
def test_what_still_runs_when_the_drain_is_over():
    engine = idem_test.simulate("--tokens", "1000", "--tokens-per-second", "10")
    gateway = idem_test.serve(engine.url, "--set", "listen.drain.limit=500ms")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask(gateway, chat("endless", stream=True))))
    thread.start()
    idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 1, "the stream is open")
    assert gateway.stop() == 0
    thread.join()
    assert not answers[0].clean
    check(gateway, "draining", answers[0])


@provokes("upstream_unhealthy")
def test_an_upstream_of_which_nothing_is_left():
    """One replica is ejected, which leaves the other; that one cannot be reached either."""
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": [
            {"url": f"http://127.0.0.1:{idem_test.free_port()}"} for _ in range(2)]}]}, file)
    gateway = idem_test.serve(config=path)
    answers = []

    def out_of_service():
        answers.append(ask(gateway, chat("x")))
        assert told(answers[-1], "upstream_connect") or answers[-1].status == 503, answers[-1].body
        return answers[-1].status == 503

    idem_test.wait_until(out_of_service, "one replica is ejected", 10)
    assert answers[-1].headers["retry-after"] == "1"
    check(gateway, "upstream_unhealthy", answers[-1])


@provokes("queue_full", "queue_timeout")
def test_a_replica_that_is_busy():
    """One call holds the serial replica, a second one waits until it may not any more, a third one finds no place to wait."""
    release = threading.Event()

    def answer(request):
        release.wait(30)
        return GOOD, "keep"

    upstream = raw_upstream.RawUpstream(answer)
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": [{"url": upstream.url}], "concurrency": {
            "mode": "serial", "queue": 1, "queue_timeout": "4s"}}]}, file)
    gateway = idem_test.serve(config=path)
    waits = lambda: idem_test.metric(gateway, "idem_upstream_waiting", upstream="up")
    answers = []
    callers = [threading.Thread(target=lambda: answers.append(ask(gateway, chat("first"))))]
    callers[0].start()
    idem_test.wait_until(lambda: upstream.requests, "the replica is busy")
    callers.append(threading.Thread(target=lambda: answers.append(ask(gateway, chat("second")))))
    callers[1].start()
    idem_test.wait_until(lambda: waits() == 1, "the second one waits")
    full = ask(gateway, b"{}", path="/v1/files")
    assert full.status == 503 and full.headers["retry-after"] == "1", (full.status, full.headers)
    check(gateway, "queue_full", full)
    callers[1].join()
    assert answers[0].status == 503 and answers[0].headers["retry-after"] == "1"
    check(gateway, "queue_timeout", answers[0])
    release.set()
    callers[0].join()
    assert answers[1].status == 200


@provokes("rate_limited", "too_many_calls")
def test_a_caller_that_wants_too_much():
    release = threading.Event()

    def answer(request):
        release.wait(30)
        return GOOD, "keep"

    upstream = raw_upstream.RawUpstream(answer)
    gateway = configured(upstream.url, limits={"caller": {"calls": 1, "per_minute": 1}})
    caller = threading.Thread(target=lambda: ask(gateway, chat("first")))
    caller.start()
    idem_test.wait_until(lambda: upstream.requests, "the first call is under way")
    many = ask(gateway, chat("second"))
    assert many.status == 429 and many.headers["retry-after"] == "1", many.headers
    check(gateway, "too_many_calls", many, metric="idem_upstream_refused_total")
    release.set()
    caller.join()
    often = ask(gateway, chat("third"))
    assert often.status == 429 and int(often.headers["retry-after"]) > 1, often.headers
    check(gateway, "rate_limited", often, metric="idem_upstream_refused_total")


@provokes("upstream_connect", "upstream_timeout", "upstream_reset", "upstream_malformed")
def test_upstreams_that_fail():
    gateway = idem_test.serve(f"http://127.0.0.1:{idem_test.free_port()}")
    check(gateway, "upstream_connect", ask(gateway, chat("x")), metric="idem_upstream_errors_total")
    begun = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n"
    answers = {"silent": (b"", "keep"), "stalls": (begun, "keep"), "resets": (b"", "rst"), "babbles": (b"HTTP/1.1 what\r\n\r\n", "fin")}
    upstream = raw_upstream.RawUpstream(lambda request: answers[prompt_of(request)])
    gateway = configured(upstream.url, {"first_byte": "500ms", "between_bytes": "500ms"})
    for reason, prompt in (("upstream_timeout", "silent"), ("upstream_reset", "resets"), ("upstream_malformed", "babbles")):
        check(gateway, reason, ask(gateway, chat(prompt)), metric="idem_upstream_errors_total")
    stalled = ask(gateway, chat("stalls", stream=True))
    assert not stalled.clean and told(stalled, "upstream_timeout"), stalled.body
    idem_test.wait_until(lambda: len(logged(gateway, "upstream_timeout")) == 2, "the stalled stream is logged as what it was", 10)
    assert not logged(gateway, "framing_incomplete")


def test_every_reason_is_provoked_by_a_case():
    for reason, (file, name) in FROM_INSIDE.items():
        text = (idem_test.ROOT / file).read_text()
        body = text.partition(f'TEST_CASE("{name}")')[2].partition("TEST_CASE(")[0]
        assert reason in body, (reason, file, name)
    missing = set(GOLDEN) - set(PROVOKED) - set(FROM_INSIDE)
    assert not missing, f"no case provokes {sorted(missing)}"
    assert set(PROVOKED) | set(FROM_INSIDE) <= set(GOLDEN), set(PROVOKED) - set(GOLDEN)


idem_test.main(globals())
