#!/usr/bin/env python3
"""The benchmark still runs: every row gets only good answers of the expected kind. Its figures are not judged here."""
# runner: alone needs-bench_floor needs-bench_load needs-bench_fanout needs-bench_canonical needs-bench_pin
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test


def test_every_row_runs():
    figures = pathlib.Path(idem_test.scratch()) / "figures.json"
    done = subprocess.run(["python3", idem_test.ROOT / "tests" / "bench" / "main.py", "--rounds", "1", "--scale", "0.02", "--json", figures],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout
    print(done.stdout)
    values = json.loads(figures.read_text())
    assert len(values["rows"]) == 11 and [f["gateway"]["upstream_calls"] for f in values["fanout"]] == [1, 1], values
    assert all(nanoseconds > 0 for nanoseconds in values["pin"].values()), values["pin"]
    assert values["key"]["large"]["bytes"] > 1e6 and 500 < values["key"]["small"]["bytes"] < 700, values["key"]


idem_test.main(globals())
