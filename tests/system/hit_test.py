"""The main promise: the same request gets the same bytes, whoever wrote it down how, in the form it asked for."""
import gzip
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

CHAT = "/v1/chat/completions"


def chat(prompt, **more):
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], **more}


def setup(*options, **more):
    engine = idem_test.simulate("--tokens", "12")
    gateway = idem_test.serve(engine.url, *options, **more)
    return engine, gateway


def call(gateway, body, headers=None, path=CHAT):
    return wire.post(gateway.url, path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)


def cache_of(answer):
    return answer.headers.get("x-cache")


def test_second_identical_call_is_a_hit_with_the_same_bytes():
    engine, gateway = setup()
    for path, body in ((CHAT, chat("a")), ("/v1/completions", {"model": "m", "prompt": "a"}),
                       ("/v1/embeddings", {"model": "m", "input": ["a", "b"]}),
                       (CHAT, chat("a", stream=True, stream_options={"include_usage": True})),
                       ("/v1/completions", {"model": "m", "prompt": "s", "stream": True})):
        first, second = call(gateway, body, path=path), call(gateway, body, path=path)
        assert first.status == 200 and first.clean, first.body
        assert cache_of(first) in ("MISS", "HIT"), first.headers
        assert cache_of(second) == "HIT", second.headers
        assert first.body == second.body
        assert first.headers["content-type"] == second.headers["content-type"]


def test_who_asks_after_the_last_byte_of_a_stream_gets_a_hit():
    """Clients take the marker for the end and ask again while the store has not answered yet."""
    _, gateway = setup(store="embedded")
    for number in range(40):
        body = json.dumps(chat(f"after {number}", stream=True)).encode()
        connection = wire.connect(gateway.url)
        connection.sendall(wire.post_bytes(CHAT, body))
        seen = b""
        while b"data: [DONE]\n\n" not in seen:
            seen += connection.recv(65536)
        second = call(gateway, body)
        assert cache_of(second) == "HIT", (number, second.headers)
        assert second.headers["cache-status"].endswith("detail=memory") and second.headers["age"].isdigit(), second.headers
        assert second.clean and second.body.count(b"[DONE]") == 1
        connection.close()
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_requests_total", cache="HIT") == 40, "forty hits counted")


def test_headers_say_what_happened():
    _, gateway = setup()
    first, second = call(gateway, chat("a")), call(gateway, chat("a"))
    assert first.headers["cache-status"].startswith("idem; fwd=miss; stored"), first.headers
    assert second.headers["cache-status"].startswith("idem; hit; ttl="), second.headers
    assert second.headers["cache-status"].endswith("detail=memory")
    assert second.headers["age"].isdigit()
    for name in ("idem-key", "idem-request", "idem-epoch", "idem-environment", "idem-digest", "idem-guarantee", "idem-replica"):
        assert first.headers[name] == second.headers[name], name
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert second.headers["via"].startswith("1.1 idem-")
    assert "server-timing" in second.headers


def test_age_counts_from_the_cache_on_the_way():
    body = json.dumps({"choices": [{"index": 0, "message": {"content": "y"}, "finish_reason": "stop"}]})
    upstream = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(body, extra="Age: 500\r\n"), "keep"))
    gateway = idem_test.serve(upstream.url)
    first, second = call(gateway, chat("a")), call(gateway, chat("a"))
    assert (cache_of(first), cache_of(second)) == ("MISS", "HIT")
    assert first.headers["age"] == "500" and 500 <= int(second.headers["age"]) < 600, (first.headers, second.headers)
    assert cache_of(call(gateway, chat("a"), {"Cache-Control": "max-age=600"})) == "HIT"
    assert cache_of(call(gateway, chat("a"), {"Cache-Control": "max-age=400"})) == "MISS"


def test_a_streamed_miss_tells_its_digest_in_trailers():
    _, gateway = setup()
    first = call(gateway, chat("a", stream=True), {"TE": "trailers"})
    second = call(gateway, chat("a", stream=True))
    assert first.trailers["idem-digest"] == second.headers["idem-digest"]
    assert "stored" in first.trailers["cache-status"]


def test_expose_limits_what_is_told():
    _, gateway = setup("--set", "listen.expose=none")
    call(gateway, chat("a"))
    told = call(gateway, chat("a")).headers
    assert not {"x-cache", "cache-status", "age", "idem-key", "server-timing"} & set(told), told
    _, gateway = setup("--set", "listen.expose=minimal")
    call(gateway, chat("a"))
    told = call(gateway, chat("a")).headers
    assert told["x-cache"] == "HIT" and "idem-key" not in told, told


def test_spelling_does_not_matter_and_every_other_field_does():
    engine, gateway = setup()
    base = call(gateway, b'{"model":"m","messages":[{"role":"user","content":"caf\xc3\xa9"}],"temperature":0}')
    same = [b'{ "temperature" : 0.0 , "messages":[{"content":"caf\\u00e9","role":"user"}], "model":"m" }',
            b'{"model":"m","temperature":-0,"messages":[{"role":"user","content":"caf\xc3\xa9"}],"user":"u1","stream":false}',
            b'{"model":"m","temperature":0e0,"messages":[{"role":"user","content":"caf\xc3\xa9"}],"seed":null}']
    for body in same:
        got = call(gateway, body)
        assert cache_of(got) == "HIT" and got.body == base.body, body
    differ = [b'{"model":"m","messages":[{"role":"user","content":"caf\xc3\xa9"}]}',
              b'{"model":"m","messages":[{"role":"user","content":"cafe\xcc\x81"}],"temperature":0}',
              b'{"model":"m","messages":[{"role":"user","content":"caf\xc3\xa9"}],"temperature":0,"seed":9007199254740993}',
              b'{"model":"m","messages":[{"role":"user","content":"caf\xc3\xa9"}],"temperature":0,"seed":9007199254740992}',
              b'{"model":"m","messages":[{"role":"user","content":"caf\xc3\xa9"}],"temperature":0,"anything_unknown":1}']
    for body in differ:
        assert cache_of(call(gateway, body)) == "MISS", body


def test_compressed_bodies_share_the_entry():
    _, gateway = setup()
    body = json.dumps(chat("a")).encode()
    first = call(gateway, body)
    packed = wire.post(gateway.url, CHAT, gzip.compress(body), {"Content-Encoding": "gzip"})
    assert cache_of(packed) == "HIT" and packed.body == first.body


def test_a_list_of_codings_is_not_undone_in_one_line_or_in_several():
    upstream = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized("{}"), "keep"))
    gateway = idem_test.serve(upstream.url)
    body = json.dumps(chat("x")).encode()
    for lines in (["identity", "br"], ["", "br"], ["identity, br"], ["br"], ["gzip", "gzip"]):
        head = f"POST {CHAT} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        head += "".join(f"Content-Encoding: {line}\r\n" for line in lines)
        with wire.connect(gateway.url) as connection:
            connection.sendall(head.encode() + b"\r\n" + body)
            got = wire.read_answer(connection)
        assert cache_of(got) == "BYPASS" and "body_encoding" in got.headers["cache-status"], (lines, got.headers)


def test_object_and_stream_share_one_entry():
    engine, gateway = setup()
    before = engine.stats()["calls"]
    made = call(gateway, chat("object first"))
    streamed = call(gateway, chat("object first", stream=True))
    assert cache_of(streamed) == "HIT" and streamed.headers["content-type"].startswith("text/event-stream")
    assert streamed.body.endswith(b"data: [DONE]\n\n")
    text = "".join(choice["delta"].get("content") or "" for line in streamed.body.decode().splitlines()
                   if line.startswith("data: {") for choice in json.loads(line[6:])["choices"])
    assert text == json.loads(made.body)["choices"][0]["message"]["content"]
    call(gateway, chat("stream first", stream=True))
    made = call(gateway, chat("stream first"))
    assert cache_of(made) == "HIT" and json.loads(made.body)["usage"]["total_tokens"] > 0, made.body
    assert engine.stats()["calls"] - before == 2


def test_usage_is_shown_only_to_those_who_asked():
    _, gateway = setup()
    plain, asked = chat("u", stream=True), chat("u", stream=True, stream_options={"include_usage": True})
    first = call(gateway, plain)
    assert b'"prompt_tokens"' not in first.body, first.body
    second = call(gateway, asked)
    assert cache_of(second) == "HIT" and b'"prompt_tokens"' in second.body
    third = call(gateway, plain)
    assert cache_of(third) == "HIT" and third.body == first.body


def test_credentials_never_share_and_anonymous_callers_do():
    engine, gateway = setup()
    before = engine.stats()["calls"]
    one, two = {"Authorization": "Bearer one"}, {"Authorization": "Bearer two"}
    assert [cache_of(call(gateway, chat("s"), h)) for h in (one, two, None, one, two, None)] == ["MISS"] * 3 + ["HIT"] * 3
    assert cache_of(call(gateway, chat("s"), {"x-api-key": "one"})) == "MISS"
    assert cache_of(call(gateway, chat("s"), {**one, "openai-organization": "o"})) == "MISS"
    assert engine.stats()["calls"] - before == 5


def test_namespaces_narrow_a_scope():
    _, gateway = setup()
    assert cache_of(call(gateway, chat("n"))) == "MISS"
    assert cache_of(call(gateway, chat("n"), {"Idem-Namespace": "a"})) == "MISS"
    assert cache_of(call(gateway, chat("n"), {"Idem-Namespace": "a"})) == "HIT"


def test_client_cache_control():
    engine, gateway = setup()
    miss = call(gateway, chat("c"), {"Cache-Control": "only-if-cached"})
    assert miss.status == 504 and miss.headers["x-should-retry"] == "false", miss.headers
    assert json.loads(miss.body)["error"]["code"] == "only_if_cached"
    assert cache_of(call(gateway, chat("c"), {"Cache-Control": "no-store"})) == "MISS"
    assert cache_of(call(gateway, chat("c"))) == "MISS"
    calls = engine.stats()["calls"]
    fresh = call(gateway, chat("c"), {"Cache-Control": "no-cache"})
    assert cache_of(fresh) == "MISS" and "no_cache_request" in fresh.headers["cache-status"]
    assert engine.stats()["calls"] == calls + 1
    assert cache_of(call(gateway, chat("c"))) == "HIT"
    assert cache_of(call(gateway, chat("c"), {"Cache-Control": "only-if-cached"})) == "HIT"
    assert cache_of(call(gateway, chat("c"), {"Cache-Control": "max-age=3600"})) == "HIT"
    assert call(gateway, chat("c"), {"Cache-Control": "max-age=abc"}).status == 400
    assert cache_of(call(gateway, chat("t"), {"Idem-TTL": "1"})) == "MISS"
    idem_test.wait_until(lambda: cache_of(call(gateway, chat("t"), {"Idem-TTL": "1"})) == "MISS", "the entry expired", 5, 0.2)


def test_a_policy_that_the_route_does_not_offer_is_refused():
    _, gateway = setup()
    for offered in ("relaxed", "Relaxed"):
        answer = call(gateway, chat("p"), {"Idem-Policy": offered})
        assert answer.status == (200 if offered == "relaxed" else 400), answer.body
    for other in ("strict", "nope"):
        answer = call(gateway, chat("p"), {"Idem-Policy": other})
        assert answer.status == 400 and b"does not offer" in answer.body, answer.body


def test_errors_and_bad_answers_are_relayed_and_not_stored():
    answers = {"500": raw_upstream.sized('{"error":{"message":"no"}}', status="500 Oops"),
               "429": raw_upstream.sized('{"error":{}}', status="429 Slow", extra="Retry-After: 7\r\n"),
               "html": raw_upstream.sized("<html>login</html>", "text/html"),
               "error": raw_upstream.sized('{"error":{"message":"in a 200"}}'),
               "none": raw_upstream.sized('{"choices":[]}'),
               "filter": raw_upstream.sized('{"choices":[{"index":0,"message":{"content":""},"finish_reason":"content_filter"}]}'),
               "open": raw_upstream.sized('{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":null}]}')}

    def answer(request):
        return answers[json.loads(request.partition(b"\r\n\r\n")[2])["messages"][0]["content"]], "keep"

    upstream = raw_upstream.RawUpstream(answer)
    gateway = idem_test.serve(upstream.url)
    for name, sent in answers.items():
        for _ in range(2):
            got = call(gateway, chat(name))
            assert cache_of(got) == "MISS", name
            assert got.status == int(sent.split()[1]) and got.body == sent.partition(b"\r\n\r\n")[2], (name, got.body)
        if name == "429":
            assert got.headers["retry-after"] == "7"
    assert len(upstream.requests) == 2 * len(answers)


def test_an_answer_cut_by_the_callers_own_limit_is_stored():
    engine, gateway = setup()
    assert cache_of(call(gateway, chat("l", max_tokens=3))) == "MISS"
    assert cache_of(call(gateway, chat("l", max_tokens=3))) == "HIT"


def test_what_cannot_be_cached_says_why():
    _, gateway = setup()
    cases = [(b'{"model":"m","model":"n","messages":[]}', "body_duplicate_key"), (b'{"model":"m","messages":[],}', "body_not_json"),
             (b'{"model":"m","messages":[],"seed":1e400}', "body_number_range"), (json.dumps(chat("x", store=True)).encode(), "stateful_call"),
             (b'{"messages":[{"role":"user","content":"no model"}]}', "missing_model"),
             (b'{"model":"m","messages":[{"role":"user","content":"\\ud800"}]}', "body_invalid_utf8")]
    for body, why in cases:
        got = call(gateway, body)
        assert cache_of(got) == "BYPASS" and f"detail={why}" in got.headers["cache-status"], (why, got.headers, got.body)


def test_large_bodies_pass_through_uncached():
    engine, gateway = setup("--set", "listen.body=100KiB")
    got = call(gateway, chat("x" * 200_000))
    assert got.status == 200 and "body_too_large" in got.headers["cache-status"], (got.status, got.headers)


def test_many_large_bodies_together_stay_within_the_budget():
    """20 uploads of 60 MiB that all wait for their last byte: the budget is 256 MiB, the rest streams through."""
    _, gateway = setup()
    size = 60 << 20
    head = (f"POST {CHAT} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n").encode()
    piece = b" " * (1 << 20)
    connections = []
    for _ in range(20):  # opened one by one: a connection that sends no head for 10 s is closed
        connection = wire.connect(gateway.url)
        connections.append(connection)
        connection.sendall(head)
        for _ in range(59):
            connection.sendall(piece)
    resident = next(int(line.split()[1]) for line in open(f"/proc/{gateway.pid}/status") if line.startswith("VmRSS"))
    assert resident < 700_000, f"{resident} kB resident"
    for connection in connections:
        connection.close()
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_request_body_bytes") == 0, "the budget is given back")


def test_answers_above_the_entry_cap_are_streamed_and_not_stored():
    big = json.dumps({"choices": [{"index": 0, "message": {"content": "y" * 3_000_000}, "finish_reason": "stop"}]})
    upstream = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(big), "keep"))
    gateway = idem_test.serve(upstream.url, "--set", "cache.entry=64KiB")
    for _ in range(2):
        got = call(gateway, chat("big"))
        assert got.status == 200 and got.clean and got.body == big.encode()
    assert len(upstream.requests) == 2


def test_anthropics_clients_find_the_id_of_their_request():
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn",
               "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    answer = raw_upstream.sized(json.dumps(message), extra="request-id: req_of_the_upstream\r\n")
    gateway = idem_test.serve(raw_upstream.RawUpstream(lambda request: (answer, "keep")).url)
    miss, hit = (call(gateway, chat("x", max_tokens=9), path="/v1/messages") for _ in range(2))
    assert miss.headers["request-id"] == "req_of_the_upstream" and cache_of(hit) == "HIT"
    assert hit.headers["request-id"] == hit.headers["x-request-id"] != miss.headers["x-request-id"], hit.headers
    refused = call(gateway, chat("y", max_tokens=9), {"Cache-Control": "only-if-cached"}, "/v1/messages")
    assert refused.status == 504 and refused.headers["request-id"] == refused.headers["x-request-id"], refused.headers
    assert "request-id" not in call(gateway, chat("x"), {"Cache-Control": "only-if-cached"}).headers


idem_test.main(globals())
