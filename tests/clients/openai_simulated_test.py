#!/usr/bin/env python3
"""The official OpenAI SDKs, current and one older major of each language, through Idem before a simulated engine."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
import idem_test  # noqa: E402
import sdks  # noqa: E402

try:
    engine = idem_test.simulate("--tokens", "12", "--model", "simulated")
    passed, failed = sdks.run_all(sdks.behind_gateways(engine.url, engine.url, "simulate"))
    print(f"{passed} passed, {failed} failed")
finally:
    idem_test.stop_all()
sys.exit(1 if failed or not passed else 0)
