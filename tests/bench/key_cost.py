"""What a key costs on one core: bench_canonical's figures, by CPU time."""
import json
import subprocess

import servers

SIZES = {"canonical_and_digest/1000/950": "large", "canonical_and_digest/1/450": "small"}


def figures(scale):
    """{"large": …, "small": …}: a chat body of 1,000 messages and one of 600 bytes; 1 MB is 1,000,000 bytes."""
    words = [servers.BUILD / "tests" / "bench_canonical", "--benchmark_filter=canonical_and_digest", "--benchmark_format=json",
             f"--benchmark_min_time={max(0.01, scale):.3f}"]
    done = subprocess.run(servers.pinned(servers.SERVER_CORE, words), capture_output=True, text=True, check=True)
    return {SIZES[b["name"]]: {"mb_per_second": b["bytes_per_second"] / 1e6, "allocations": b["allocations"],
                               "bytes": round(b["bytes_per_second"] * b["cpu_time"] / 1e9)}
            for b in json.loads(done.stdout)["benchmarks"]}
