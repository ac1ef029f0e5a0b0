"""What a hundred replicas add to a request, on one core: bench_pin's figures, by CPU time."""
import json
import subprocess

import servers


def figures(scale):
    """{"alike": …, "weighted": …, "states": …, "full order": …}: nanoseconds that a request takes longer among 100 replicas than alone."""
    words = [servers.BUILD / "tests" / "bench_pin", "--benchmark_format=json", f"--benchmark_min_time={max(0.01, scale / 4):.3f}",
             "--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true"]
    done = subprocess.run(servers.pinned(servers.SERVER_CORE, words), capture_output=True, text=True, check=True)
    median = {b["run_name"]: b["cpu_time"] for b in json.loads(done.stdout)["benchmarks"] if b["aggregate_name"] == "median"}
    names = {"alike": "best/alike", "weighted": "best/weighted", "states": "best/states", "full order": "full_order"}
    return {name: median[f"{run}/100"] - median[f"{run}/1"] for name, run in names.items()}
