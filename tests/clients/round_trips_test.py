#!/usr/bin/env python3
"""Round trips of answers through Idem and the official accumulators: object → stream → SDK → the same object, and stream → object → what
the SDK makes of the stream. The upstream has each answer in one form only, so the other one is Idem's."""
import json
import os
import sys

for folder in ("support", "../support/python"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), folder))
import corpus  # noqa: E402
import idem_test  # noqa: E402
import raw_upstream  # noqa: E402
import sdks  # noqa: E402

SDKS = {"openai 7 (npm), chat": ("openai-7", "completions"), "openai 5 (npm), chat": ("openai-5", "completions"), "openai 7 (npm), responses": ("openai-7", "responses"),
        "@anthropic-ai/sdk 1 (npm)": ("anthropic-1", "messages"), "@anthropic-ai/sdk 0 (npm)": ("anthropic-0", "messages"), "ollama 0 (npm)": ("ollama-0", "chat"),
        "@google/genai 3 (npm)": ("google-3", "gemini")}

passed = failed = 0
try:
    upstream = raw_upstream.RawUpstream(corpus.answer)
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
