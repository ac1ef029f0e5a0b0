#!/usr/bin/env python3
"""What users of other gateways reported about hits: they differed from the answer, came late, told nothing, or were another call's."""
import concurrent.futures
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import field
import idem_test
import raw_upstream
from field import CHAT, cache_of, chat, completion, events, post, row, settled

USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8, "prompt_tokens_details": {"cached_tokens": 1},
         "completion_tokens_details": {"reasoning_tokens": 2}}
OPTIONS = {"include_usage": True}


def serving(whole=None, stream=None, stream_type="text/event-stream"):
    """A gateway whose upstream answers with these bytes; .calls() tells how often."""
    server = field.upstream(lambda call: raw_upstream.chunked(stream, stream_type) if call.get("stream") else raw_upstream.sized(whole))
    gateway = idem_test.serve(server.url)
    gateway.calls = lambda: len(server.requests)
    return gateway


def twice(gateway, call, path=CHAT):
    first = post(gateway, call, path=path)
    settled(gateway)
    second = post(gateway, call, path=path)
    assert (first.status, cache_of(first), cache_of(second)) == (200, "MISS", "HIT"), (first.body, second.headers)
    assert first.body == second.body and first.headers["content-type"] == second.headers["content-type"]
    return first, second


def chunks(answer):
    lines = answer.body.decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


# ---- The hit is the answer --------------------------------------------------------------------------------------------

@row("nenya#18", "vllm-project/semantic-router#378", "vllm-project/semantic-router#913")
def test_the_form_of_a_hit_is_the_one_that_was_asked_for():
    for first in (False, True):
        gateway = serving(json.dumps(completion("hi")), events({"role": "assistant", "content": "hi"}, usage=USAGE))
        post(gateway, chat(stream=first))
        settled(gateway)
        for stream in (False, True):
            hit = post(gateway, chat(stream=stream))
            assert cache_of(hit) == "HIT", (first, stream, hit.headers)
            assert hit.headers["content-type"].partition(";")[0] == ("text/event-stream" if stream else "application/json")
            if stream:
                assert hit.body.endswith(b"\n\ndata: [DONE]\n\n")
                assert "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks(hit) if c["choices"]) == "hi"
            else:
                assert json.loads(hit.body)["choices"][0]["message"]["content"] == "hi"


@row("BerriAI/litellm#11145", "freellmapi#1098", "freellmapi#1099")
def test_a_stream_comes_back_in_the_very_pieces_it_came_in():
    pieces = events({"role": "assistant", "content": ""}, {"content": "he"}, {"content": ""}, {"content": "ll"}, {"content": "o"}, usage=USAGE)
    gateway = serving(stream=pieces)
    _, hit = twice(gateway, chat(stream=True, stream_options=OPTIONS))
    assert hit.body == "".join(pieces).encode()


@row("Kong: terminators of event streams", "sigoden/aichat#548")
def test_the_ends_of_events_and_lines_are_kept():
    text = "".join(events({"role": "assistant", "content": "x"}, usage=USAGE)).replace("\n", "\r\n")
    _, hit = twice(serving(stream=[text]), chat(stream=True, stream_options=OPTIONS))
    assert hit.body == text.encode()
    lines = [json.dumps({"model": "m", "message": {"role": "assistant", "content": c}, "done": not c, **({} if c else {"done_reason": "stop"})}) + "\n"
             for c in ("a", "b", "")]
    _, hit = twice(serving(stream=["".join(lines)[:50], "".join(lines)[50:]], stream_type="application/x-ndjson"), chat(stream=True), "/api/chat")
    assert hit.body == "".join(lines).encode()


@row("BerriAI/litellm#32068", "BerriAI/litellm#42244", "tensorzero#5267")
def test_reasoning_and_the_original_usage_are_in_the_hit():
    whole = json.dumps(completion("4", message={"reasoning_content": "two and two"}, usage=USAGE))
    gateway = serving(whole, events({"role": "assistant", "reasoning_content": "two and two"}, {"content": "4"}, usage=USAGE))
    for stream_first in (False, True):
        prompt = f"stream first {stream_first}"
        calls = [chat(prompt), chat(prompt, stream=True, stream_options=OPTIONS)]
        first = post(gateway, calls[stream_first])
        settled(gateway)
        hit = post(gateway, calls[not stream_first])
        assert cache_of(first) == "MISS" and cache_of(hit) == "HIT", hit.headers
        if stream_first:
            message = json.loads(hit.body)
            assert message["choices"][0]["message"]["reasoning_content"] == "two and two" and message["usage"] == USAGE
        else:
            assert "two and two" in "".join(c["choices"][0]["delta"].get("reasoning_content") or "" for c in chunks(hit) if c["choices"])
            assert [c["usage"] for c in chunks(hit) if c.get("usage")] == [USAGE]


@row("promptfoo#8643")
def test_log_probabilities_are_in_the_hit():
    whole = completion("hi")
    whole["choices"][0]["logprobs"] = {"content": [{"token": "hi", "logprob": -0.25, "bytes": [104, 105], "top_logprobs": []}], "refusal": None}
    gateway = serving(json.dumps(whole))
    twice(gateway, chat(logprobs=True))
    streamed = post(gateway, chat(logprobs=True, stream=True))
    assert cache_of(streamed) == "HIT" and any(c["choices"] and c["choices"][0].get("logprobs", {}) == whole["choices"][0]["logprobs"]
                                               for c in chunks(streamed) if c["choices"][0].get("logprobs")), streamed.body


@row("BerriAI/litellm#24579", "BerriAI/litellm#24580")
def test_streams_of_the_responses_api_are_kept():
    gateway = idem_test.serve(idem_test.simulate().url)
    call = {"model": "m", "input": "x", "stream": True}
    _, hit = twice(gateway, call, "/v1/responses")
    assert b"event: response.completed" in hit.body
    made = post(gateway, {**call, "stream": False}, path="/v1/responses")
    assert cache_of(made) == "HIT" and json.loads(made.body)["status"] == "completed"


@row("alibaba/higress#1624", "alibaba/higress#4445", "alibaba/higress#4557", "theopenco/llmgateway#3877")
def test_streams_are_kept_with_ids_and_structured_parts():
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\"a\""}}
    gateway = serving(stream=events({"role": "assistant", "content": None, "tool_calls": [call]},
                                    {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}, finish="tool_calls", usage=USAGE))
    _, hit = twice(gateway, chat(stream=True, stream_options=OPTIONS))
    assert {c["id"] for c in chunks(hit)} == {"c"}
    made = json.loads(post(gateway, chat()).body)
    assert made["id"] == "c" and made["choices"][0]["message"]["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}], made


@row("GoModel#200")
def test_what_cannot_be_converted_without_loss_is_fetched_instead():
    gateway = serving(json.dumps(completion("hi", obfuscation="no stream can carry this")), events({"role": "assistant", "content": "hi"}, usage=USAGE))
    whole = post(gateway, chat())
    streamed = post(gateway, chat(stream=True))
    assert (cache_of(whole), cache_of(streamed), gateway.calls()) == ("MISS", "MISS", 2)
    settled(gateway)
    assert [cache_of(post(gateway, chat(stream=stream))) for stream in (False, True)] == ["HIT", "HIT"]
    assert post(gateway, chat()).body == whole.body


# ---- What a hit tells, and how fast -----------------------------------------------------------------------------------

@row("maximhq/bifrost#3049", "BerriAI/litellm#8570", "BerriAI/litellm#5401")
def test_every_route_tells_what_happened():
    gateway = idem_test.serve(idem_test.simulate().url)
    calls = {CHAT: chat(), "/v1/completions": {"model": "m", "prompt": "x"}, "/v1/embeddings": {"model": "m", "input": "x"},
             "/v1/responses": {"model": "m", "input": "x"}, "/v1/messages": {**chat(), "max_tokens": 9}}
    for path, call in calls.items():
        for stream in (False, True) if path != "/v1/embeddings" else (False,):
            for expected in ("MISS", "HIT"):
                answer = post(gateway, {**call, "user": "u", "seed": int(stream), **({"stream": True} if stream else {})}, path=path)
                settled(gateway)
                assert cache_of(answer) == expected, (path, stream, answer.headers, answer.body)
                assert len(answer.headers["idem-key"]) == len(answer.headers["idem-request"]) == 64
                assert answer.headers["cache-status"].startswith("idem; " + ("hit" if expected == "HIT" else "fwd=miss"))


@row("Kong: savings and first bytes of hits", "apisix: hits go past the log")
def test_hits_are_logged_and_counted():
    gateway = serving(json.dumps(completion("hi", usage=USAGE)))
    post(gateway, chat())
    post(gateway, chat())
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_requests_total", cache="HIT") == 1, "the hit is counted", 10)
    assert idem_test.metric(gateway, "idem_saved_tokens_total") == USAGE["total_tokens"]

    def lines():
        return [json.loads(line) for line in gateway.output().splitlines() if line.startswith("{") and '"access"' in line]

    idem_test.wait_until(lambda: len(lines()) == 2, "both are in the log", 10)
    hit = next(line for line in lines() if line["cache"]["status"] == "HIT")  # the threads' lines come in any order
    assert hit["ttfb_ms"] > 0 and hit["usage"] == {"in": 3, "out": 5}, hit


@row("LiteLLM: a hit sleeps 20 ms for every five characters")
def test_a_streamed_hit_comes_at_once():
    words = [{"content": "word "} for _ in range(2000)]
    gateway = serving(stream=events({"role": "assistant"}, *words, usage=USAGE))
    twice(gateway, chat(stream=True))
    took = []
    for _ in range(10):
        began = time.monotonic()
        assert cache_of(post(gateway, chat(stream=True))) == "HIT"
        took.append(time.monotonic() - began)
    assert min(took) < 0.2, took


@row("BerriAI/litellm#1868")
def test_an_upstream_that_caches_too_keeps_its_own_word():
    server = field.upstream(lambda call: raw_upstream.sized(json.dumps(completion()), extra='Cache-Status: other; hit\r\nX-Cache: HIT from other\r\nAge: 7\r\n'))
    gateway = idem_test.serve(server.url)
    first = post(gateway, chat())
    assert first.headers["cache-status"].startswith("other; hit, idem; fwd=miss"), first.headers
    assert post(gateway, chat()).headers["cache-status"].startswith("idem; hit")
    assert post(gateway, chat(), {"Via": first.headers["via"]}).status == 508


# ---- The hit is this call's -------------------------------------------------------------------------------------------

@row("BerriAI/litellm#25447", "Helicone: hashes of 64 bits and no look at the request")
def test_the_answer_of_another_call_under_this_name_is_a_counted_miss():
    redis = idem_test.redis_server()
    server = field.counting()
    gateway = idem_test.serve(server.url, "--redis", redis.url, "--set", "cache.memory=0", store="redis")
    idem_test.wait_until(lambda: cache_of(post(gateway, chat("warm"))) == "HIT", "Redis is in use", 10)
    one, two = (post(gateway, chat(name)) for name in ("one", "two"))
    names = [f"idem:{{{answer.headers['idem-key']}}}:e" for answer in (one, two)]
    assert redis.command("COPY", names[0], names[1], "REPLACE") == b":1\r\n"
    asked = post(gateway, chat("two"))
    assert asked.status == 200 and cache_of(asked) == "MISS" and asked.body != one.body, asked.headers
    assert idem_test.metric(gateway, "idem_store_errors_total", reason="entry_corrupt") > 0
    assert post(gateway, chat("one")).body == one.body


@row("Cloudflare: concurrent calls all go upstream", "IronTraffic#249", "vLLM-SR: followers give up after 250 ms")
def test_fifty_at_once_are_one_call():
    engine = idem_test.simulate("--latency", "1000")
    gateway = idem_test.serve(engine.url)
    before = engine.stats()["calls"]
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: post(gateway, chat(stream=True)), range(50)))
    assert engine.stats()["calls"] - before == 1
    assert len({answer.body for answer in answers}) == 1 and [cache_of(answer) for answer in answers].count("MISS") == 1


@row("BerriAI/litellm#1218", "BerriAI/litellm#1306", "BerriAI/litellm#1312", "Portkey#201", "Portkey#202")
def test_cache_control_means_what_the_standard_says():
    gateway = idem_test.serve(field.counting().url)
    first = post(gateway, chat(), {"Cache-Control": "no-store"})
    kept = post(gateway, chat())
    assert cache_of(kept) == "MISS" and kept.body != first.body, "no-store: not stored"
    assert post(gateway, chat(), {"Cache-Control": "no-store"}).body == kept.body, "but a stored answer may be given"
    assert post(gateway, chat(), {"Cache-Control": "no-cache"}).body != kept.body, "no-cache: computed anew"
    assert post(gateway, chat("other"), {"Cache-Control": "only-if-cached"}).status == 504
    assert cache_of(post(gateway, chat(), {"Cache-Control": "max-age=3600"})) == "HIT"
    idem_test.wait_until(lambda: cache_of(post(gateway, chat(), {"Cache-Control": "max-age=1"})) == "MISS", "seconds, not milliseconds", 10, 0.2)
    for absurd in ("max-age=1.5", "max-age=1s", "max-age=-1", "max-age="):
        refused = post(gateway, chat(), {"Cache-Control": absurd})
        assert refused.status == 400 and b"bad_control" in refused.body, absurd


field.main("hits")
