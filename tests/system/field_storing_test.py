#!/usr/bin/env python3
"""What users of other gateways reported about storing: bad answers were kept, good ones were not, or keeping them did harm."""
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import field
import idem_test
import raw_upstream
import wire
from field import CHAT, body_of, cache_of, chat, completion, events, post, row, settled

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def never_stored(answers, stream=False, options=(), **more):
    """Each of these answers reaches its caller, and the next caller gets another one."""
    pending = []
    server = field.upstream(lambda call: pending.pop())
    gateway = idem_test.serve(server.url, *options)
    for n, answer in enumerate(answers):
        for _ in range(2):
            pending.append(answer)
            got = post(gateway, chat(f"{n}", stream=stream, **more))
            settled(gateway)
            assert cache_of(got) == "MISS" and not pending, (answer, got.headers)
    assert idem_test.metric(gateway, "idem_stored_total") == 0


def stored_once(answer, stream=False, **more):
    server = field.upstream(lambda call: answer)
    gateway = idem_test.serve(server.url)
    first = post(gateway, chat(stream=stream, **more))
    settled(gateway)
    second = post(gateway, chat(stream=stream, **more))
    assert (cache_of(first), cache_of(second), len(server.requests)) == ("MISS", "HIT", 1), second.headers
    assert first.body == second.body
    return second


def sized(value):
    return raw_upstream.sized(json.dumps(value))


# ---- Bad answers ------------------------------------------------------------------------------------------------------

@row("BerriAI/litellm#40294", "BerriAI/litellm#40276", "worldmonitor#1522")
def test_answers_without_an_answer_are_not_stored():
    unfinished = completion()
    del unfinished["choices"][0]["finish_reason"]
    never_stored([sized({"choices": []}), sized({**completion(), "choices": None}), sized(None), sized({}), sized([]), sized(""), sized(unfinished),
                  sized(completion(finish=None)), sized({"error": {"message": "down"}}), raw_upstream.sized("")])


@row("Portkey: the status is not looked at")
def test_only_a_200_is_stored():
    never_stored([raw_upstream.sized(json.dumps(completion()), status=status) for status in ("201 Created", "202 Accepted", "429 Slow", "500 No", "503 No")])


@row("apache/apisix#13644", "Braintrust and the replay proxy of GKE: streams without their end are stored")
def test_streams_without_their_end_are_not_stored():
    whole = events({"role": "assistant", "content": "a"}, {"content": "b"}, finish="stop")
    framed = raw_upstream.chunked(whole[:-1])
    cut = framed[:len(framed) - 5]
    never_stored([raw_upstream.chunked(whole[:3]), raw_upstream.chunked(whole[:2]), framed, (cut, "fin"), (cut, "rst")], stream=True)


@row("HKUDS/LightRAG#3446", "TensorZero: the finish reason is not looked at")
def test_truncated_answers_are_stored_only_for_those_who_set_the_limit():
    whole = sized(completion(finish="length"))
    stream = raw_upstream.chunked(events({"role": "assistant", "content": "x"}, finish="length"))
    never_stored([whole])
    never_stored([stream], stream=True)
    stored_once(whole, max_tokens=1)
    stored_once(stream, stream=True, max_tokens=1)
    server = field.upstream(lambda call: whole)
    gateway = field.configured(server.url, policies={"whole": {"store_truncated": False}}, routes=[{"policy": "whole"}])
    assert [cache_of(post(gateway, chat(max_tokens=1))) for _ in range(2)] == ["MISS", "MISS"]


@row("inspect_ai#4846", "Devwhisper#293")
def test_filtered_answers_and_refusals_are_not_stored():
    never_stored([sized(completion("", finish="content_filter")), sized(completion(None, message={"refusal": "I cannot help with that."}))])
    never_stored([raw_upstream.chunked(events({"role": "assistant", "content": ""}, finish="content_filter"))], stream=True)


@row("tensorzero#2950")
def test_arguments_that_are_no_json_are_kept_as_the_model_wrote_them_in_both_forms():
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": "}}
    kept = stored_once(sized(completion(None, finish="tool_calls", message={"tool_calls": [call]})))
    assert json.loads(kept.body)["choices"][0]["message"]["tool_calls"] == [call]
    stored_once(raw_upstream.chunked(events({"role": "assistant", "content": None, "tool_calls": [{"index": 0, **call}]}, finish="tool_calls")), stream=True)


@row("GPTCache: temperature is dropped on the way")
def test_the_upstream_gets_the_very_bytes():
    server = field.counting()
    gateway = idem_test.serve(server.url)
    for body in (b' {"temperature": 0.70, "messages":[{"role":"user","content":"\\u00e9 \xc3\xa9"}],\r\n"model":"m","user":"u","unknown":1e2 } ',
                 b'{"model":"m","stream_options":null,"messages":[]}'):
        assert post(gateway, body).status == 200
        assert body_of(server.requests[-1]) == body
        assert post(gateway, body, path="/v1/unknown").status == 200
        assert body_of(server.requests[-1]) == body


# ---- Good answers -----------------------------------------------------------------------------------------------------

@row("Helicone/ai-gateway#134")
def test_what_an_upstream_says_of_caches_on_every_answer_is_no_reason():
    for value in ("no-cache", "no-store", "private, max-age=0", "no-cache, no-store, must-revalidate"):
        stored_once(raw_upstream.sized(json.dumps(completion()), extra=f"Cache-Control: {value}\r\nPragma: no-cache\r\nExpires: 0\r\nSet-Cookie: a=b\r\n"))


@row("vllm-project/semantic-router#1555")
def test_streams_are_stored():
    stored_once(raw_upstream.chunked(events({"role": "assistant", "content": "x"})), stream=True)


@row("tensorzero#2988", "Portkey: expired entries are renewed by reading")
def test_a_hit_renews_nothing():
    gateway = idem_test.serve(field.counting().url)
    first = post(gateway, chat(), {"Idem-TTL": "3"})
    began = time.monotonic()

    def expired():
        answer = post(gateway, chat(), {"Idem-TTL": "3"})
        return cache_of(answer) == "MISS" and answer.body != first.body

    idem_test.wait_until(expired, "it expires however often it is read", 10, 0.05)
    assert time.monotonic() - began > 1.5


@row("envoyproxy/envoy#34595", "BerriAI/litellm#17364")
def test_callers_that_leave_cancel_the_call_or_leave_it_to_be_stored_as_the_policy_says():
    for finishes in (False, True):
        engine = idem_test.simulate("--tokens", "20", "--tokens-per-second", "20")
        gateway = field.configured(engine.url, policies={"p": {"finish_abandoned": finishes}}, routes=[{"policy": "p"}])
        with wire.connect(gateway.url) as leaver:
            leaver.sendall(wire.post_bytes(CHAT, json.dumps(chat(stream=True)).encode()))
            assert leaver.recv(100).startswith(b"HTTP/1.1 200")
        settled(gateway)
        idem_test.wait_until(lambda e=engine: e.stats()["concurrency"]["current"] == 0, "the upstream's call is over", 20)
        assert idem_test.metric(gateway, "idem_stored_total") == int(finishes)
        assert idem_test.metric(gateway, "idem_not_stored_total", reason="fill_cancelled") == int(not finishes)
        assert cache_of(post(gateway, chat(stream=True))) == ("HIT" if finishes else "MISS")


@row("any-llm#941", "Rapid-MLX#1123", "agentmemory#765")
def test_a_policy_may_keep_to_calls_that_ask_for_no_chance():
    server = field.counting()
    for eligible, calls in (("greedy", {"HIT": [{"temperature": 0}], "BYPASS": [{}, {"temperature": 1}, {"seed": 1, "temperature": 1}]}),
                            ("seeded", {"HIT": [{"temperature": 0}, {"seed": 1, "temperature": 1}], "BYPASS": [{}, {"temperature": 1}]})):
        gateway = field.configured(server.url, policies={"p": {"eligible": eligible}}, routes=[{"policy": "p"}])
        for expected, bodies in calls.items():
            for body in bodies:
                post(gateway, chat(**body))
                assert cache_of(post(gateway, chat(**body))) == expected, (eligible, body)


# ---- Harm done by storing ---------------------------------------------------------------------------------------------

@row("Helicone: a failed write fails the call")
def test_a_store_that_dies_between_look_up_and_write_costs_nothing():
    redis = idem_test.redis_server()

    def answer(call):
        if call["messages"][0]["content"] == "x":
            redis.kill()
        return sized(completion())

    gateway = idem_test.serve(field.upstream(answer).url, "--redis", redis.url, store="redis")
    idem_test.wait_until(lambda: "state_unknown" not in post(gateway, chat("warm")).headers["cache-status"], "Redis is in use", 10)
    got = post(gateway, chat())
    assert got.status == 200 and got.clean and json.loads(got.body) == completion()
    assert idem_test.metric(gateway, "idem_store_errors_total", operation="put") > 0


@row("Helicone: the whole answer is buffered")
def test_a_stream_is_passed_on_while_it_comes():
    go_on = threading.Event()
    whole = b"".join(b"%x\r\n%b\r\n" % (len(e), e.encode()) for e in events({"role": "assistant", "content": "a"}, {"content": "b"}))

    class Slow(raw_upstream.RawUpstream):
        def _serve(self, connection):
            connection.recv(65536)
            connection.sendall(HEAD + whole[:100])
            go_on.wait(20)
            connection.sendall(whole[100:] + b"0\r\n\r\n")
            connection.close()

    gateway = idem_test.serve(Slow(None).url)
    with wire.connect(gateway.url) as client:
        client.sendall(wire.post_bytes(CHAT, json.dumps(chat(stream=True, stream_options={"include_usage": True})).encode()))
        early = b""
        while b"data: " not in early:
            early += client.recv(65536)
        assert early.startswith(b"HTTP/1.1 200")
        go_on.set()
        assert wire.read_answer(client, early).clean


@row("BerriAI/litellm#40129", "BerriAI/litellm#9448", "BerriAI/litellm#38193", "BerriAI/litellm#12685", "BerriAI/litellm#2424", "Portkey: the map has no bound")
def test_what_is_kept_is_bounded():
    server = field.upstream(lambda call: sized(completion("y" * (200_000 if call["messages"][0]["content"] == "large" else 20_000))))
    gateway = idem_test.serve(server.url, "--set", "cache.entry=100KiB", "--set", "cache.memory=1MiB")
    for _ in range(2):
        assert cache_of(post(gateway, chat("large"))) == "MISS"
    for n in range(200):
        assert post(gateway, chat(f"{n}")).status == 200
    tier = idem_test.admin(gateway, "/admin/v1/stats").json()["tiers"][0]
    assert 0 < tier["bytes"] <= 1 << 20, tier
    assert cache_of(post(gateway, chat("199"))) == "HIT"


@row("alibaba/higress#1644", "agentgateway#2350", "agentgateway#3408", "kortix-ai/suna#6490")
def test_large_requests_are_cached_and_larger_ones_pass():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 10_000_000}}
    server = field.counting()
    gateway = idem_test.serve(server.url)
    assert [cache_of(post(gateway, chat([picture]))) for _ in range(2)] == ["MISS", "HIT"]
    gateway = idem_test.serve(server.url, "--set", "listen.body=1MiB")
    for _ in range(2):
        passed = post(gateway, chat([picture]))
        assert passed.status == 200 and cache_of(passed) == "BYPASS" and "body_too_large" in passed.headers["cache-status"], passed.headers


@row("Kong: deleting answers 500, or 204 where nothing was")
def test_deleting_says_what_it_did():
    gateway = idem_test.serve(field.counting().url)
    key = post(gateway, chat()).headers["idem-key"]
    statuses = [idem_test.admin(gateway, f"/admin/v1/entries/{key}", "DELETE").status for _ in range(2)]
    assert statuses == [200, 404]
    assert cache_of(post(gateway, chat())) == "MISS"


field.main("storing")
