"""The table and the bounds that Idem holds itself to."""


def print_rows(rows):
    figures = {row.name: row.medians() for row in rows}
    base = figures.get("floor", {}).get("cpu_us")
    print(f"\n{'':34}{'CPU µs/request':>15}{'x floor':>9}{'requests/s':>12}{'p50 µs':>9}{'p99 µs':>9}")
    for name, f in figures.items():
        ratio = f"{f['cpu_us'] / base:9.2f}" if base else f"{'':9}"
        print(f"{name:34}{f['cpu_us']:15.1f}{ratio}{f['rps']:12.0f}{f['p50_us']:9.0f}{f['p99_us']:9.0f}")
    return {"rows": figures}


def bounds_of(figures):
    """(what, value, bound, unit) for every bound that was measured; value must be at most bound, or at least with a fifth word."""
    # A run too short for the 10 ms tick of /proc reads 0: then there is nothing to compare with.
    cpu = {name: f["cpu_us"] for name, f in figures["rows"].items() if f["cpu_us"] > 0}

    def have(*names):
        return all(name in cpu for name in names)

    if have("floor", "idem hit, memory"):
        yield "hit of identical bytes, over the floor", cpu["idem hit, memory"] / cpu["floor"], 1.6, "x"
    if have("nginx proxy_cache hit", "idem hit, memory"):
        yield "hit of identical bytes, over nginx proxy_cache", cpu["idem hit, memory"] / cpu["nginx proxy_cache hit"], 1.0, "x"
    if have("floor", "idem hit, 1,000 spellings"):
        yield "hit of 1,000 spellings, over the floor", cpu["idem hit, 1,000 spellings"] / cpu["floor"], 2.2, "x"
    if have("nginx proxy_pass", "idem miss, memory"):
        yield "miss with store memory, over nginx proxy_pass", cpu["idem miss, memory"] / cpu["nginx proxy_pass"], 1.0, "x"
    if have("idem miss, embedded", "idem miss, memory"):
        yield "what the embedded store adds to a miss", cpu["idem miss, embedded"] - cpu["idem miss, memory"], 70, "µs"
    if "first_byte_ms" in figures:
        yield "added time to first byte of a stream", figures["first_byte_ms"], 1.0, "ms"
        yield "time to ready", figures["ready_seconds"], 0.2, "s"
        yield "idle resident memory", figures["idle_mib"], 40, "MiB"
    if "key" in figures:
        yield "canonical form and digest of a 1 MB body", figures["key"]["large"]["mb_per_second"], 300, "MB/s", "least"
        yield "allocations for a key of 600 bytes", figures["key"]["small"]["allocations"], 0, ""
    if "pin" in figures:
        for kind in ("alike", "weighted", "states"):
            yield f"what 100 replicas add to a miss, {kind}", figures["pin"][kind], 1000, "ns"
    for f in figures.get("fanout", []):
        lag, bare = f["gateway"]["p99_ms"], f["writer"]["p99_ms"]
        print(f"{f['followers']} followers, lag p50 {f['gateway']['p50_ms']:.2f} ms, p99 {lag:.2f} ms; "
              f"bare write loop p50 {f['writer']['p50_ms']:.2f} ms, p99 {bare:.2f} ms; upstream calls {f['gateway']['upstream_calls']}")
        if f["followers"] == 1000:
            yield "lag of 1,000 followers (p99), over a bare write loop", lag / bare, 2.0, "x"
        else:
            yield f"lag of {f['followers']} followers (p99)", lag, 5.0, "ms"
        yield f"upstream calls for {f['followers']} followers", f["gateway"]["upstream_calls"], 1, ""


def print_bounds(figures):
    good = True
    print()
    for what, value, bound, unit, *least in bounds_of(figures):
        held = value >= bound if least else value <= bound
        good = good and held
        print(f"{'ok    ' if held else 'MISSED'}  {what:54}{value:9.2f} {unit:4} (at {'least' if least else 'most'} {bound:g})")
    return good
