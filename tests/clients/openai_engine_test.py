#!/usr/bin/env python3
"""The official OpenAI SDKs through Idem before a real engine: llama.cpp's server with a tiny random model."""
# runner: needs-engine
import os
import sys

for folder in ("support", "../support/python"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), folder))
import engine  # noqa: E402
import idem_test  # noqa: E402
import sdks  # noqa: E402

try:
    chat, embeddings = engine.start(), engine.start("--embeddings")
    passed, failed = sdks.run_all(sdks.behind_gateways(chat.url, embeddings.url, "llama"), sdks.OPENAI)
    print(f"{passed} passed, {failed} failed")
finally:
    idem_test.stop_all()
sys.exit(1 if failed or not passed else 0)
