#!/usr/bin/env python3
"""Round trips of answers through Idem and the official accumulators: object → stream → SDK → the same object, stream → object → what the
SDK makes of the stream, and that object → stream → SDK. The upstream has each answer in one form only, so the other one is Idem's."""
import json
import os
import sys
import urllib.parse

for folder in ("support", "../support/python"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), folder))
import corpus  # noqa: E402
import idem_test  # noqa: E402
import raw_upstream  # noqa: E402
import sdks  # noqa: E402

SDKS = {"openai 7 (npm), chat": ("openai-7", "completions"), "openai 5 (npm), chat": ("openai-5", "completions"), "openai 7 (npm), responses": ("openai-7", "responses"),
        "@anthropic-ai/sdk 1 (npm)": ("anthropic-1", "messages"), "@anthropic-ai/sdk 0 (npm)": ("anthropic-0", "messages"), "ollama 0 (npm)": ("ollama-0", "chat"),
        "@google/genai 3 (npm)": ("google-3", "gemini")}



def request_of(dialect, name, stream):
    """(path, body) of the plainest call for that answer."""
    said = [{"role": "user", "content": "x"}]
    if dialect == "gemini":
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"/v1beta/models/{urllib.parse.quote(name)}:{method}", {"contents": [{"parts": [{"text": "x"}]}]}
    paths = {"completions": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages", "chat": "/api/chat"}
    body = {"model": name, "stream": stream, **({"input": "x"} if dialect == "responses" else {"messages": said})}
    if dialect == "messages":
        body["max_tokens"] = 99
    if dialect == "completions" and stream:
        body["stream_options"] = {"include_usage": True}
    return paths[dialect], body


def objects_of_streams(gateway, dialect, streams):
    """What Idem makes of each stream."""
    made = {}
    for name in streams:
        for stream in (True, False):
            path, body = request_of(dialect, f"stream {name}", stream)
            answer = idem_test.request(gateway.url, path, body=json.dumps(body), headers={"Content-Type": "application/json"})
            assert answer.status == 200 and answer["X-Cache"] == ("MISS" if stream else "HIT"), (dialect, name, answer.status, answer["X-Cache"])
        made[f"made of {name}"] = json.loads(answer.body)
    return made


passed = failed = 0
try:
    upstream = raw_upstream.RawUpstream(corpus.answer)
    for dialect, (objects, streams) in corpus.ALL.items():
        objects.update(objects_of_streams(idem_test.serve(upstream.url), dialect, streams))
    for who, (sdk, dialect) in SDKS.items():
        gateway = idem_test.serve(upstream.url)
        objects, streams = corpus.ALL[dialect]
        environment = {"GATEWAY": gateway.url, "DIALECT": dialect, "OBJECTS": json.dumps(objects), "STREAMS": json.dumps(list(streams))}
        before = len(upstream.requests)
        one = sdks.run_all(environment, {who: lambda name=sdk: sdks.javascript(name, "round_trip")})
        calls = len(upstream.requests) - before
        if one[1] == 0 and calls != len(objects) + len(streams):
            print(f"  FAILED  {calls} calls went upstream for {len(objects) + len(streams)} answers")
            failed += 1
        passed, failed = passed + one[0], failed + one[1]
    print(f"{passed} passed, {failed} failed")
finally:
    idem_test.stop_all()
sys.exit(1 if failed or not passed else 0)
