"""Runs the rows in interleaved rounds and prints the table; tests/bench/run is the way in."""
import argparse
import json
import pathlib
import statistics
import sys
import time

import fanout
import idem_test
import key_cost
import measure
import pin_cost
import servers
import table


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/bench/run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args(arguments)


def make_rows():
    """The servers are all up at once, idle but for the one that is measured."""
    upstream = servers.floor(servers.LOAD_CORE)
    bare = servers.floor()
    memory = servers.idem(upstream.port, "memory")
    embedded = servers.idem(upstream.port, "embedded")
    embedded_only = servers.idem(upstream.port, "embedded", "cache.memory=0")
    store = servers.redis()
    shared = servers.idem(upstream.port, "redis", "cache.memory=0", f"cache.redis.urls=redis://127.0.0.1:{store.port}")
    web = servers.nginx(upstream.port)
    varnish = servers.varnish(upstream.port)
    row = measure.Row
    return [
        row("floor", [bare], bare.port, 60000),
        row("idem hit, memory", [memory], memory.port, 60000, expect="HIT"),
        row("idem hit, 1,000 spellings", [memory], memory.port, 60000, mode="spellings", expect="HIT"),
        row("idem hit, new spelling each time", [memory], memory.port, 40000, mode="new-spellings", expect="HIT"),
        row("idem hit, embedded", [embedded_only], embedded_only.port, 20000, expect="HIT"),
        row("idem hit, redis", [shared], shared.port, 20000, expect="HIT"),
        row("nginx proxy_cache hit", [web], web.hit_port, 60000, expect="HIT"),
        row("varnish hit", [varnish, varnish.logger], varnish.port, 40000, expect="HIT"),
        row("idem miss, memory", [memory], memory.port, 20000, mode="distinct", expect="MISS"),
        row("idem miss, embedded", [embedded], embedded.port, 20000, mode="distinct", expect="MISS"),
        row("nginx proxy_pass", [web], web.miss_port, 20000, mode="distinct"),
    ], upstream, memory


def first_byte(upstream, gateway):
    """Milliseconds that the gateway adds to the first byte of a stream: one connection, every request a miss."""
    direct, through = [], []
    for _ in range(5):
        direct.append(measure.load(upstream.port, 400, "distinct", connections=1, stream=True)["first_p50_us"])
        through.append(measure.load(gateway.port, 400, "distinct", connections=1, stream=True)["first_p50_us"])
    return (statistics.median(through) - statistics.median(direct)) / 1000


def start_up(upstream):
    """(seconds until /readyz answers 200, resident MiB when idle), of a gateway with its default store."""
    seconds, gateway = [], None
    for _ in range(5):
        began = time.monotonic()
        gateway = idem_test.serve(f"http://127.0.0.1:{upstream.port}", store="embedded")
        seconds.append(time.monotonic() - began)
    return statistics.median(seconds), servers.resident_mib(gateway)


def main(arguments):
    options = parse(arguments)
    rows, upstream, memory = make_rows()
    rows = [row for row in rows if options.only in row.name]
    print(f"core {servers.SERVER_CORE}: the server, core {servers.LOAD_CORE}: load generator and upstream; {options.rounds} rounds", flush=True)
    for number in range(options.rounds):
        for row in rows:
            row.run(options.scale)
        print(f"round {number + 1} of {options.rounds}", flush=True)
    figures = table.print_rows(rows)
    if not options.only:
        figures["first_byte_ms"] = first_byte(upstream, memory)
        figures["ready_seconds"], figures["idle_mib"] = start_up(upstream)
        figures["key"] = key_cost.figures(options.scale)
        figures["pin"] = pin_cost.figures(options.scale)
        figures["fanout"] = [fanout.compare(50), fanout.compare(1000)]
    bounds = table.print_bounds(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 1 if options.gate and not bounds else 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    finally:
        idem_test.stop_all()
    sys.exit(code)
