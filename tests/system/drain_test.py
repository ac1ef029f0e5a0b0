"""SIGTERM: readiness fails, streams finish, new callers are still served during the drain delay, exit status 0."""
import json
import os
import re
import resource
import select
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import wire

CHAT = "/v1/chat/completions"


def body(prompt, stream=True):
    return json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}]}).encode()


def test_streams_finish_and_the_status_is_0():
    engine = idem_test.simulate("--tokens", "40", "--tokens-per-second", "20")
    gateway = idem_test.serve(engine.url, "--set", "listen.drain.delay=1s")
    answers = []
    threads = [threading.Thread(target=lambda i=i: answers.append(wire.post(gateway.url, CHAT, body(f"p{i}")))) for i in range(20)]
    for thread in threads:
        thread.start()
    idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 20, "20 streams are open")
    gateway.signal(signal.SIGTERM)
    idem_test.wait_until(lambda: not idem_test.http_ok(gateway.admin, "/readyz"), "readiness fails", 1)
    assert idem_test.http_ok(gateway.admin, "/livez")
    late = wire.post(gateway.url, CHAT, body("late", stream=False))
    assert late.status == 200 and late.headers["connection"].lower() == "close", late.headers
    for thread in threads:
        thread.join()
    assert all(a.clean and a.body.endswith(b"data: [DONE]\n\n") for a in answers) and len(answers) == 20
    assert gateway.child.wait(10) == 0


def test_an_idle_gateway_ends_at_once():
    engine = idem_test.simulate()
    gateway = idem_test.serve(engine.url)
    with wire.connect(gateway.url) as idle:
        idle.sendall(wire.post_bytes(CHAT, body("x", False)))
        assert wire.read_answer(idle).status == 200
        began = time.monotonic()
        assert gateway.stop() == 0
        assert time.monotonic() - began < 3
        assert idle.recv(1) == b""


def test_nobody_waits_for_connections_that_ask_nothing():
    gateway = idem_test.serve(idem_test.simulate().url)
    with wire.connect(gateway.url) as silent:
        idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_connections", side="client") >= 1, "it is open", 10)
        began = time.monotonic()
        assert gateway.stop() == 0
        assert time.monotonic() - began < 3
        assert silent.recv(1) == b""


def test_a_hangup_changes_nothing_and_says_so():
    gateway = idem_test.serve(idem_test.simulate().url)
    gateway.signal(signal.SIGHUP)
    idem_test.wait_until(lambda: "SIGHUP" in gateway.output(), "it is said", 10)
    assert wire.post(gateway.url, CHAT, body("x", False)).status == 200
    assert gateway.stop() == 0


def test_nobody_is_warned_of_a_default_that_is_lowered():
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    ports = idem_test.free_port(), idem_test.free_port()
    gateway = idem_test.Process([idem_test.BINARY, "serve", "--upstream", idem_test.simulate().url, "--store", "memory",
                                 "--listen", f"127.0.0.1:{ports[0]}", "--admin", f"127.0.0.1:{ports[1]}"], preexec=few)
    idem_test.wait_until(lambda: idem_test.http_ok(f"http://127.0.0.1:{ports[1]}", "/readyz"), "it is ready", 20)
    assert "connections_lowered" in gateway.output() and "warn connections_lowered" not in gateway.output(), gateway.output()
    assert gateway.stop() == 0


def first_bytes(connection):
    try:
        return connection.recv(100)
    except ConnectionResetError:
        return b""  # a crowd of them is turned away without a word


def test_few_descriptors_lower_the_cap_and_leave_the_probes_answering():
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    engine, data = idem_test.simulate(), idem_test.scratch("data-")
    ports = idem_test.free_port(), idem_test.free_port()
    gateway = idem_test.Process([idem_test.BINARY, "serve", "--upstream", engine.url, "--listen", f"127.0.0.1:{ports[0]}",
                                 "--admin", f"127.0.0.1:{ports[1]}", "--data", data, "--set", "listen.connections=9000"], preexec=few)
    url, admin = (f"http://127.0.0.1:{port}" for port in ports)
    idem_test.wait_until(lambda: idem_test.http_ok(admin, "/readyz"), "it is ready", 20)
    assert re.search(r"warn connections_lowered: .*limit of open files \(256\)", gateway.output()), gateway.output()
    open_ones = []
    try:
        for _ in range(250):
            open_ones.append(wire.connect(url))
        idem_test.wait_until(lambda: idem_test.http_ok(admin, "/livez"), "the probe answers", 10)
        asked = open_ones.pop(0)
        asked.sendall(wire.post_bytes(CHAT, body("x", False)))
        answer = wire.read_answer(asked)
        assert (answer.status, answer.headers["x-cache"]) == (200, "MISS"), (answer.status, answer.body)
        # The threads' shares differ, so nobody knows which ones are above the cap; some are, and are told.
        idem_test.wait_until(lambda: any(first_bytes(connection).startswith(b"HTTP/1.1 503")
                                         for connection in select.select(open_ones, [], [], 1)[0]), "those above the cap are told", 10)
    finally:
        for connection in open_ones:
            connection.close()
    assert gateway.stop() == 0


def test_what_is_left_at_the_limit_is_ended_with_an_error_event_or_a_broken_connection():
    engine = idem_test.simulate("--tokens", "1000", "--tokens-per-second", "10")
    gateway = idem_test.serve(engine.url, "--set", "listen.drain.limit=1s")
    got = {}

    def call(name, prompt, stream, path=CHAT):
        text = body(prompt, stream) if path == CHAT else body(prompt, stream).replace(b"{", b'{"max_tokens": 900, ', 1)
        got[name] = wire.post(gateway.url, path, text)

    calls = [("stream", "endless", True), ("follower", "endless", True), ("object", "endless too", False),
             ("message", "endless", True, "/v1/messages")]
    threads = [threading.Thread(target=call, args=arguments) for arguments in calls]
    for thread in threads:
        thread.start()
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flight_followers") == 4 and engine.stats()["concurrency"]["current"] == 3,
                         "all are under way")
    assert gateway.stop() == 0
    for thread in threads:
        thread.join()
    for name in ("stream", "follower", "message"):
        assert got[name].status == 200 and not got[name].clean, name
        last = got[name].body.rstrip(b"\n").rpartition(b"\n\n")[2]
        assert b"shutting down" in last and b'"draining"' in last, (name, got[name].body[-400:])
    assert got["message"].body.rstrip(b"\n").rpartition(b"\n\n")[2].startswith(b"event: error\n"), got["message"].body[-400:]
    assert got["object"].status == 503 and got["object"].clean and b'"draining"' in got["object"].body, got["object"].body
    logged = [json.loads(line) for line in gateway.output().splitlines() if line.startswith("{")]
    assert sum(line["cache"].get("reason") == "draining" for line in logged) == 4, logged


idem_test.main(globals())
