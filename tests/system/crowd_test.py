#!/usr/bin/env python3
"""A thousand callers of one request at once, in either form: one upstream call, a thousand equal bodies, streamed live."""
import selectors
import socket
import threading
import time

import idem_test
import upstream

CALLERS = 1000
DEADLINE = 60


class Caller:
    def __init__(self, port, request):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
        self.socket.sendall(request)
        self.socket.setblocking(False)
        self.received = b""

    def whole(self):
        """The body if the answer is complete, else None."""
        head, found, rest = self.received.partition(b"\r\n\r\n")
        if not found:
            return None
        fields = head.lower()
        if b"content-length:" in fields:
            length = int(fields.split(b"content-length:")[1].split(b"\r\n")[0])
            return rest if len(rest) == length else None
        return unchunked(rest) if rest.endswith(b"0\r\n\r\n") else None


def unchunked(data):
    body = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        if int(size, 16) == 0:
            return body
        body, data = body + data[:int(size, 16)], data[int(size, 16) + 2:]


def crowd(gateway, body, on_data=lambda callers: None):
    """Sends `body` over CALLERS connections; their answers' bodies."""
    raw = idem_test.json.dumps(body).encode()
    request = (f"POST /v1/chat/completions HTTP/1.1\r\nHost: idem\r\nContent-Type: application/json\r\nAuthorization: Bearer k\r\n"
               f"Content-Length: {len(raw)}\r\n\r\n").encode() + raw
    callers = [Caller(gateway.ports[0], request) for _ in range(CALLERS)]
    on_data(callers)
    with selectors.DefaultSelector() as selector:
        for caller in callers:
            selector.register(caller.socket, selectors.EVENT_READ, caller)
        waiting, end = len(callers), time.monotonic() + DEADLINE
        while waiting and time.monotonic() < end:
            for key, _ in selector.select(1):
                piece = key.data.socket.recv(1 << 16)
                key.data.received += piece
                if not piece or key.data.whole() is not None:
                    selector.unregister(key.fileobj)
                    waiting -= 1
            on_data(callers)
    bodies = [caller.whole() for caller in callers]
    statuses = {caller.received[:15] for caller in callers}
    for caller in callers:
        caller.socket.close()
    return bodies, statuses


def test_objects():
    sent = threading.Event()

    def answer(call):
        assert sent.wait(DEADLINE)
        yield upstream.chat_object("one answer for all")

    server = upstream.Upstream(answer)
    gateway = idem_test.serve(server.url)
    bodies, statuses = crowd(gateway, {"model": "m", "messages": [{"role": "user", "content": "all at once"}]}, lambda callers: sent.set())
    assert statuses == {b"HTTP/1.1 200 OK"}, statuses
    assert len(set(bodies)) == 1 and upstream.chat_object("one answer for all").endswith(bodies[0])
    assert len(server.calls) == 1, len(server.calls)


def test_streams_live():
    everybody_has_some = threading.Event()

    def answer(call):
        pieces = list(upstream.chunked(upstream.chat_events([f"word {i} " for i in range(20)])))
        yield pieces[0]
        yield pieces[1]
        assert everybody_has_some.wait(DEADLINE), "the others never saw the beginning of a stream that is not over"
        yield from pieces[2:]

    def on_data(callers):
        if not everybody_has_some.is_set() and all(b"data: " in caller.received for caller in callers):
            everybody_has_some.set()

    server = upstream.Upstream(answer)
    gateway = idem_test.serve(server.url)
    request = {"model": "m", "messages": [{"role": "user", "content": "all at once"}], "stream": True, "stream_options": {"include_usage": True}}
    bodies, statuses = crowd(gateway, request, on_data)
    assert statuses == {b"HTTP/1.1 200 OK"}, statuses
    assert len(set(bodies)) == 1 and bodies[0] is not None and bodies[0].endswith(b"data: [DONE]\n\n"), bodies[:1]
    assert len(server.calls) == 1, len(server.calls)


idem_test.main(globals())
