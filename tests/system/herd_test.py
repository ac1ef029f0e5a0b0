"""1,000 identical concurrent requests make one upstream call and get 1,000 identical bodies."""
# runner: alone
import json
import os
import resource
import selectors
import socket
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import wire

COUNT = 1000


def raise_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))


def herd(gateway, stream, count=COUNT, leave_first=False):
    """Opens `count` connections, sends the same request on all, reads all answers to their end."""
    raise_limit()
    body = json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": f"herd {stream} {leave_first}"}]})
    data = wire.post_bytes("/v1/chat/completions", body.encode(), {"Connection": "close"})
    parts = urllib.parse.urlsplit(gateway.url)
    poll = selectors.DefaultSelector()
    received = {}
    connections = []
    for _ in range(count):
        connection = socket.create_connection((parts.hostname, parts.port), timeout=30)
        connection.setblocking(False)
        connections.append(connection)
    for connection in connections:
        connection.send(data)
        received[connection] = bytearray()
        poll.register(connection, selectors.EVENT_READ)
    if leave_first:
        time.sleep(0.3)
        poll.unregister(connections[0])
        connections[0].close()
        del received[connections[0]]
    open_count = len(received)
    end = time.monotonic() + 60
    while open_count and time.monotonic() < end:
        for key, _ in poll.select(1):
            got = key.fileobj.recv(65536)
            if got:
                received[key.fileobj] += got
            else:
                poll.unregister(key.fileobj)
                key.fileobj.close()
                open_count -= 1
    assert open_count == 0, f"{open_count} answers did not end"
    return [bytes(text) for text in received.values()]


def split(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body


def check(stream, leave_first=False):
    engine = idem_test.simulate("--tokens", "40", "--tokens-per-second", "40")
    gateway = idem_test.serve(engine.url)
    before = engine.stats()["calls"]
    answers = herd(gateway, stream, leave_first=leave_first)
    assert engine.stats()["calls"] - before == 1, engine.stats()
    heads, bodies = zip(*map(split, answers))
    assert all(head.startswith(b"HTTP/1.1 200") for head in heads)
    if stream:  # chunk boundaries may differ, the bytes may not
        # Who came after the end was answered from memory, in one piece.
        bodies = [body if b"Content-Length" in head else dechunk(body) for head, body in zip(heads, bodies)]
        assert bodies[0].endswith(b"data: [DONE]\n\n"), bodies[0][-100:]
    assert len(set(bodies)) == 1, f"{len(set(bodies))} different bodies"
    misses = sum(b"X-Cache: MISS" in head for head in heads)
    assert misses <= 1, misses  # the one that led may be the one that left
    assert sum(b"X-Cache: COALESCED" in head or b"X-Cache: HIT" in head for head in heads) == len(heads) - misses


def dechunk(body):
    out = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        n = int(size, 16)
        if n == 0:
            return out
        out, body = out + body[:n], body[n + 2:]
    raise AssertionError("no clean end")


def test_streamed():
    check(True)


def test_as_objects():
    check(False)


def test_the_first_caller_leaves():
    check(True, leave_first=True)


def test_the_last_caller_leaving_cancels_the_fill():
    engine = idem_test.simulate("--tokens", "1000", "--tokens-per-second", "20")
    gateway = idem_test.serve(engine.url)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "leave"}]}).encode()
    with wire.connect(gateway.url) as connection:
        connection.sendall(wire.post_bytes("/v1/chat/completions", body))
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    idem_test.wait_until(lambda: engine.stats()["concurrency"]["current"] == 0, "the upstream call was cancelled", 5)
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_not_stored_total", reason="fill_cancelled") == 1, "it is counted")
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flights") == 0, "no flight is left")


def test_the_next_caller_never_asks_again_however_soon_it_comes():
    """A stream's client has its last byte before the store has answered; who asks then joins, or finds it stored."""
    engine = idem_test.simulate("--tokens", "3")
    for store in ("memory", "embedded"):
        gateway = idem_test.serve(engine.url, store=store)
        before = engine.stats()["calls"]
        for n in range(100):
            body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"{store} {n}"}]}
            first, second = (idem_test.request(gateway.url, "/v1/chat/completions", body=body) for _ in range(2))
            assert first.body == second.body
        assert engine.stats()["calls"] - before == 100, engine.stats()
        gateway.stop()


idem_test.main(globals())
