#!/usr/bin/env python3
"""llama.cpp's own API through Idem before a real llama-server: every call hits the second time, byte for byte."""
# runner: needs-engine
import json
import os
import sys

for folder in ("support", "../support/python"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), folder))
import engine  # noqa: E402
import idem_test  # noqa: E402
import wire  # noqa: E402

RUNNING = {}


def gateway(*options):
    """Idem before a llama-server with these options, for the rest of the case."""
    if options not in RUNNING or not RUNNING[options].alive():
        RUNNING[options] = idem_test.serve(engine.start(*options).url, "--engine", "llamacpp")
    return RUNNING[options]


def call(at, path, body, headers=None):
    return wire.post(at.url, path, json.dumps(body).encode(), headers)


def twice(at, path, body):
    first, second = call(at, path, body), call(at, path, body)
    assert first.status == 200 and first.clean, (first.status, first.body)
    assert (first.headers["x-cache"], second.headers["x-cache"]) == ("MISS", "HIT"), (first.headers, second.headers)
    assert first.body == second.body and first.headers["content-type"] == second.headers["content-type"]
    return second


def events(answer):
    """Of several prompts the server says `null` when it begins on one."""
    lines = answer.body.decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ") and line != "data: null"]


def test_completion():
    body = json.loads(twice(gateway(), "/completion", {"prompt": "ka lo", "n_predict": 6, "temperature": 0}).body)
    assert body["content"] and body["stop"] is True


def test_completion_streamed():
    answer = twice(gateway(), "/completion", {"prompt": "ka lo mi", "n_predict": 6, "temperature": 0, "stream": True})
    assert answer.headers["content-type"] == "text/event-stream"
    assert events(answer)[-1]["stop"] is True


def test_several_results():
    body = {"prompt": ["ka lo", "mi ne"], "n_predict": 4, "temperature": 0}
    assert len(json.loads(twice(gateway(), "/completion", body).body)) == 2
    one = {"prompt": ["ka", "mi", "ru"], "n_predict": 4, "temperature": 0, "stream": True}
    assert {event["index"] for event in events(twice(gateway(), "/completion", one))} == {0, 1, 2}


def test_a_stream_answers_the_object():
    # A cached prefix is evaluated in another batch, which changes the last digits of probabilities.
    body = {"prompt": "ru sa", "n_predict": 6, "temperature": 0, "n_probs": 2, "return_tokens": True, "cache_prompt": False}
    stream = call(gateway(), "/completion", {**body, "stream": True})
    answer = call(gateway(), "/completion", {**body, "stream": False})
    assert answer.headers["x-cache"] == "HIT"
    made, real = json.loads(answer.body), json.loads(call(gateway(), "/completion", body, {"Cache-Control": "no-cache"}).body)
    for volatile in ("timings", "id_slot", "tokens_cached"):
        made.pop(volatile), real.pop(volatile)
    assert made == real, "as the server itself makes the object"
    assert "".join(event["content"] for event in events(stream)) == made["content"]


def test_an_object_answers_the_stream_if_it_has_token_ids():
    body = {"prompt": "to ve", "n_predict": 6, "temperature": 0, "return_tokens": True}
    whole = json.loads(call(gateway(), "/completion", body).body)
    answer = call(gateway(), "/completion", {**body, "stream": True})
    assert answer.headers["x-cache"] == "HIT"
    made = events(answer)
    assert [token for event in made for token in event["tokens"]] == whole["tokens"]
    assert made[-1]["generation_settings"]["stream"] is True


def test_without_token_ids_the_stream_is_the_servers_own():
    body = {"prompt": "sa sa", "n_predict": 6, "temperature": 0}
    whole = json.loads(call(gateway(), "/completion", body).body)
    answer = call(gateway(), "/completion", {**body, "stream": True})
    assert answer.headers["x-cache"] != "HIT"
    assert sum(len(event["tokens"]) for event in events(answer)) == whole["tokens_predicted"]


def test_one_path_two_spellings():
    body = {"prompt": "lo lo", "n_predict": 4, "temperature": 0}
    first = call(gateway(), "/completion", body)
    short = call(gateway(), "/completions", body)
    assert short.headers["x-cache"] == "HIT" and short.body == first.body
    openai = call(gateway(), "/v1/completions", {**body, "model": "m"})
    assert openai.headers["x-cache"] == "MISS" and json.loads(openai.body)["choices"]


def test_curl_without_a_content_type():
    body = {"prompt": "ve ve", "n_predict": 4, "temperature": 0}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for expected in ("MISS", "HIT"):
        answer = idem_test.request(gateway().url, "/completion", "POST", json.dumps(body).encode(), form)
        assert answer.headers["x-cache"] == expected, answer.headers


def test_tokenize():
    assert json.loads(twice(gateway(), "/tokenize", {"content": "ka lo"}).body)["tokens"]
    assert json.loads(twice(gateway(), "/tokenize", {"content": "ka lo", "with_pieces": True}).body)["tokens"][0]["piece"]


def test_embeddings():
    at = gateway("--embeddings")
    assert len(json.loads(twice(at, "/embedding", {"content": ["ka lo", "mi"]}).body)) == 2
    assert json.loads(twice(at, "/embeddings", {"input": "ka"}).body)[0]["embedding"]
    assert call(at, "/embedding", {"input": "ka"}).headers["x-cache"] == "HIT"


def test_what_the_server_refuses_is_not_kept():
    for path, body in (("/completion", {"n_predict": 2}), ("/infill", {"input_prefix": "ka", "input_suffix": "lo"}),
                       ("/rerank", {"query": "ka", "documents": ["lo"]})):
        first, second = call(gateway(), path, body), call(gateway(), path, body)
        assert first.status >= 400 and second.status == first.status, (path, first.status)
        assert json.loads(second.body)["error"]["message"]
        assert second.headers["x-cache"] != "HIT"


def test_what_must_not_be_cached_says_why():
    for body, why in (({"prompt": "ka", "n_predict": 2, "t_max_predict_ms": 5000}, "time_dependent_call"),
                      ({"prompt": "ka", "n_predict": 0}, "no_generation")):
        answer = call(gateway(), "/completion", body)
        assert answer.headers["x-cache"] == "BYPASS" and why in answer.headers["cache-status"], answer.headers


idem_test.main(globals())
