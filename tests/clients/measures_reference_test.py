#!/usr/bin/env python3
"""The measures of determinism, computed by other implementations: sacreBLEU, RapidFuzz and SciPy."""
# runner: needs-idem_measure
import os
import subprocess
import sys

for folder in ("support", "../support/python"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), folder))
import idem_test  # noqa: E402
import sdks  # noqa: E402

program = os.path.join(os.environ["IDEM_BUILD_DIR"], "tests", "idem_measure")
clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
sys.exit(subprocess.run([*sdks.python("measure-1"), program], env=clean, timeout=idem_test.LONG and 900 or 300, check=False).returncode)
