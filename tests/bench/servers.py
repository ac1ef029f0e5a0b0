"""The servers that are compared, each pinned to the server's core, in front of one upstream on the load generator's core."""
import os
import pathlib
import subprocess

import idem_test

BUILD = pathlib.Path(os.environ["IDEM_BUILD_DIR"])
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE = CORES[0]
LOAD_CORE = CORES[1] if len(CORES) > 1 else CORES[0]

NGINX = """
user root;
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    log_format line '$remote_addr [$time_iso8601] "$request" $status $body_bytes_sent $request_time $upstream_cache_status';
    access_log {folder}/access.log line;
    client_body_buffer_size 128k;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    proxy_cache_path {folder}/cache keys_zone=answers:64m max_size=1g;
    upstream engine {{ server 127.0.0.1:{upstream}; keepalive 64; keepalive_requests 1000000000; }}
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    server {{
        listen 127.0.0.1:{hit} reuseport;
        location / {{
            proxy_pass http://engine;
            proxy_cache answers;
            proxy_cache_methods POST;
            proxy_cache_key "$request_uri$http_authorization$request_body";
            proxy_cache_valid 200 1h;
            add_header X-Cache $upstream_cache_status;
        }}
        location /status {{ stub_status; }}
    }}
    server {{
        listen 127.0.0.1:{miss} reuseport;
        location / {{ proxy_pass http://engine; }}
    }}
}}
"""

VARNISH = """
vcl 4.1;
import std;
import bodyaccess;
backend default {{ .host = "127.0.0.1"; .port = "{upstream}"; }}
sub vcl_recv {{
    if (req.method == "POST") {{
        std.cache_req_body(128KB);
        return (hash);
    }}
}}
sub vcl_hash {{
    hash_data(req.http.Authorization);
    bodyaccess.hash_req_body();
}}
sub vcl_backend_fetch {{ set bereq.method = "POST"; }}
sub vcl_backend_response {{ set beresp.ttl = 1h; }}
sub vcl_deliver {{ if (obj.hits > 0) {{ set resp.http.X-Cache = "HIT"; }} else {{ set resp.http.X-Cache = "MISS"; }} }}
"""


def pinned(core, words):
    return ["taskset", "-c", str(core), *[str(word) for word in words]]


def run_pinned(core, words, ports):
    return idem_test.start(lambda: (pinned(core, words), ports), lambda it: all(idem_test.listening(port) for port in it.ports),
                           " ".join(str(word) for word in words[:2]))


def floor(core=SERVER_CORE):
    port = idem_test.free_port()
    process = run_pinned(core, [BUILD / "tests" / "bench_floor", port], [port])
    process.port = port
    return process


def idem(upstream, store, *settings):
    """Idem on one thread with its defaults else: access log and metrics on, expose full."""
    options = ["--set", "listen.threads=1", "--set", "listen.expose=full"]
    for setting in settings:
        options += ["--set", setting]
    process = idem_test.serve(f"http://127.0.0.1:{upstream}", *options, store=store)
    subprocess.run(["taskset", "-a", "-p", "-c", str(SERVER_CORE), str(process.pid)], check=True, stdout=subprocess.DEVNULL)
    process.port = process.ports[0]
    return process


def nginx(upstream):
    folder = pathlib.Path(idem_test.scratch("nginx-"))
    hit, miss = idem_test.free_port(), idem_test.free_port()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, upstream=upstream, hit=hit, miss=miss))
    process = run_pinned(SERVER_CORE, ["nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"], [hit, miss])
    process.hit_port, process.miss_port = hit, miss
    return process


def varnish(upstream):
    """With varnishncsa, since an access log is on for everybody; its CPU counts."""
    folder = pathlib.Path(idem_test.scratch("varnish-"))
    port = idem_test.free_port()
    (folder / "vcl").write_text(VARNISH.format(upstream=upstream))
    words = ["varnishd", "-F", "-j", "none", "-n", folder / "work", "-a", f"127.0.0.1:{port}", "-f", folder / "vcl", "-s", "malloc,256m",
             "-T", "127.0.0.1:0", "-p", "thread_pools=1", "-p", "thread_pool_min=50", "-p", "timeout_idle=60"]
    process = run_pinned(SERVER_CORE, words, [port])
    process.port = port
    process.logger = idem_test.Process(pinned(SERVER_CORE, ["varnishncsa", "-n", folder / "work", "-w", folder / "access.log"]))
    return process


def redis():
    port = idem_test.free_port()
    folder = idem_test.scratch("redis-")
    process = run_pinned(LOAD_CORE, ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder],
                         [port])
    process.port = port
    return process


def family(pid):
    """The process and all its descendants."""
    pids, queue = [], [pid]
    while queue:
        current = queue.pop()
        pids.append(current)
        for task in pathlib.Path(f"/proc/{current}/task").glob("*/children"):
            queue += [int(child) for child in task.read_text().split()]
    return pids


def cpu_seconds(processes):
    """User and system time of the processes with their descendants, from /proc/PID/stat."""
    ticks = 0
    for process in processes:
        for pid in family(process.pid):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_mib(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")
