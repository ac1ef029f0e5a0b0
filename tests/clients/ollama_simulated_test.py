#!/usr/bin/env python3
"""The official Ollama clients of both languages through Idem before a simulated engine."""
import os
import sys

for folder in ("support", "../support/python"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), folder))
import idem_test  # noqa: E402
import sdks  # noqa: E402

try:
    engine = idem_test.simulate("--tokens", "12", "--model", "simulated")
    passed, failed = sdks.run_all(sdks.behind_gateways(engine.url, engine.url, "simulate"), sdks.OLLAMA)
    print(f"{passed} passed, {failed} failed")
finally:
    idem_test.stop_all()
sys.exit(1 if failed or not passed else 0)
