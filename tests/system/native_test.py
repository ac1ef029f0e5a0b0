"""The native APIs of local engines: the same bytes the second time, either form from the other's entry, and nothing of an answer
that was cut."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

CHAT = {"model": "m", "messages": [{"role": "user", "content": "a"}], "options": {"seed": 1}}
GENERATE = {"model": "m", "prompt": "a", "options": {"seed": 1}}
COMPLETION = {"prompt": "a", "seed": 1, "return_tokens": True}
SGLANG = {"text": "a", "sampling_params": {"temperature": 0, "max_new_tokens": 64}}
TGI = {"inputs": "a", "parameters": {"max_new_tokens": 64, "details": True}}


def call(gateway, path, body):
    return wire.post(gateway.url, path, json.dumps(body).encode())


def cache_of(answer):
    return answer.headers["x-cache"]


def gateway_before_simulation(*options):
    return idem_test.serve(idem_test.simulate("--tokens", "12").url, *options)


def test_every_call_hits_the_second_time_with_the_same_bytes():
    gateway = gateway_before_simulation()
    calls = [("/api/chat", CHAT, "application/x-ndjson"), ("/api/chat", {**CHAT, "think": True, "stream": False}, "application/json"),
             ("/api/generate", GENERATE, "application/x-ndjson"), ("/api/generate", {**GENERATE, "raw": True, "stream": False}, "application/json"),
             ("/api/embed", {"model": "m", "input": ["a", "b"]}, "application/json"),
             ("/api/embeddings", {"model": "m", "prompt": "a"}, "application/json"),
             ("/completion", COMPLETION, "application/json"), ("/completion", {**COMPLETION, "n_cmpl": 2, "stream": True}, "text/event-stream"),
             ("/infill", {"input_prefix": "a", "input_suffix": "b"}, "application/json"),
             ("/embedding", {"content": ["a", "b"]}, "application/json"), ("/rerank", {"query": "a", "documents": ["b", "c"]}, "application/json"),
             ("/tokenize", {"content": "a longer text"}, "application/json"),
             ("/generate", SGLANG, "application/json"), ("/generate", {**SGLANG, "text": ["a", "b"], "stream": True}, "text/event-stream"),
             ("/generate", TGI, "application/json"), ("/generate_stream", TGI, "text/event-stream"),
             ("/", TGI, "application/json"), ("/", {**TGI, "inputs": "b", "stream": True}, "text/event-stream")]
    for path, body, content_type in calls:
        first, second = call(gateway, path, body), call(gateway, path, body)
        assert first.status == 200 and first.clean, (path, first.status, first.body)
        assert (cache_of(first), cache_of(second)) == ("MISS", "HIT"), (path, first.headers, second.headers)
        assert first.body == second.body and first.headers["content-type"] == second.headers["content-type"]
        assert first.headers["content-type"].split(";")[0] == content_type, (path, first.headers)


def test_either_form_from_the_others_entry():
    gateway = gateway_before_simulation()
    for path, body in (("/api/chat", CHAT), ("/api/generate", GENERATE), ("/completion", COMPLETION), ("/generate", SGLANG)):
        for first in (True, False):
            one = {**body, "stream": first, "top_k" if path == "/completion" else "format": "json" if first else ""}
            filled, other = call(gateway, path, one), call(gateway, path, {**one, "stream": not first})
            assert (cache_of(filled), cache_of(other)) == ("MISS", "HIT"), (path, filled.headers, other.headers)
            assert filled.headers["content-type"] != other.headers["content-type"]
            # Back again, through the other conversion: the words are those of the entry.
            assert call(gateway, path, one).body == filled.body


def test_a_stored_stream_of_tgi_answers_its_object():
    gateway = gateway_before_simulation()
    filled = call(gateway, "/", {**TGI, "stream": True})
    other = call(gateway, "/", TGI)
    assert (cache_of(filled), cache_of(other)) == ("MISS", "HIT")
    assert json.loads(other.body)[0]["generated_text"]


def test_the_tenant_of_a_call_is_part_of_its_scope():
    gateway = gateway_before_simulation()
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], "temperature": 0}
    path = "/v1/chat/completions"
    answers = [call(gateway, path, {**body, **more}) for more in
               ({}, {"cache_salt": "x"}, {"cache_salt": "y"}, {"cache_salt": "x"}, {"extra_key": "x"}, {})]
    assert [cache_of(answer) for answer in answers] == ["MISS", "MISS", "MISS", "HIT", "MISS", "HIT"]
    assert len({answer.headers["idem-request"] for answer in answers}) == 1, "one digest"
    assert len({answer.headers["idem-key"] for answer in answers}) == 4


def test_what_is_no_generation_passes_through():
    gateway = gateway_before_simulation()
    for path, body, why in (("/api/chat", {"model": "m"}, "no_generation"), ("/api/generate", {"model": "m", "prompt": ""}, "no_generation"),
                            ("/completion", {"prompt": "a", "n_predict": 0}, "no_generation"),
                            ("/completion", {"prompt": "a", "t_max_predict_ms": 9}, "time_dependent_call"),
                            ("/generate", {"prompt": "a"}, "not_cacheable_path"), ("/", {"jsonrpc": "2.0"}, "not_cacheable_path")):
        answer = call(gateway, path, body)
        assert cache_of(answer) == "BYPASS" and why in answer.headers["cache-status"], (path, body, answer.headers)


def line(text, **more):
    value = {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": text}, "done": False, **more}
    return json.dumps(value, ensure_ascii=False) + "\n"


LINES = [line("h\u00e9"), line("llo \U0001f642"), line("", done=True, done_reason="stop", eval_count=2)]


def test_lines_that_are_cut_anywhere_end_with_an_error_line_of_their_own():
    whole = raw_upstream.chunked(LINES, "application/x-ndjson")
    head = whole.index(b"\r\n\r\n") + 4
    upstream = raw_upstream.RawUpstream(lambda request: (whole[:int(json.loads(request.partition(b"\r\n\r\n")[2])["model"])], "fin"))
    gateway = idem_test.serve(upstream.url)
    for cut in range(head, len(whole)):
        body = {**CHAT, "model": str(cut)}
        for _ in range(2):
            got = call(gateway, "/api/chat", body)
            assert cache_of(got) != "HIT" and not (got.status == 200 and got.clean), (cut, got.status, got.body)
            if got.status != 200:
                assert json.loads(got.body)["error"], got.body
                continue
            *_, last = got.body.decode(errors="replace").rstrip("\n").split("\n")
            assert json.loads(last)["code"] == "framing_incomplete", (cut, got.body)
    assert idem_test.metric(gateway, "idem_stored_total") == 0


def test_an_error_line_ends_a_stream_that_is_not_kept():
    broken = raw_upstream.chunked([LINES[0], '{"error":"out of memory"}\n'], "application/x-ndjson")
    upstream = raw_upstream.RawUpstream(lambda request: (broken, "keep"))
    gateway = idem_test.serve(upstream.url)
    for _ in range(2):
        got = call(gateway, "/api/chat", CHAT)
        assert cache_of(got) == "MISS" and got.body.endswith(b'{"error":"out of memory"}\n'), got.body
    assert len(upstream.requests) == 2


idem_test.main(globals())
