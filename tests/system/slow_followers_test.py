"""One flight with clients that never read, that read a trickle, that leave early, and that behave: the last finish at the
upstream's pace, whatever the others do."""
import json
import os
import selectors
import socket
import struct
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import wire

CHAT = "/v1/chat/completions"
FILLER = "x" * 16000


def event(content, finish=None):
    value = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
             "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


class SlowUpstream:
    """Streams the events of a plan: (pause before it in seconds, bytes). Keeps all it sent, and when it was done."""

    def __init__(self, plan):
        self.plan, self.sent, self.calls, self.done_at = plan, b"", 0, None
        self.go = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(65536)
            self.calls += 1
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            self.go.wait(30)
            try:
                for pause, data in self.plan:
                    time.sleep(pause)
                    connection.sendall(b"%x\r\n" % len(data) + data + b"\r\n")
                    self.sent += data
                connection.sendall(b"0\r\n\r\n")
            except OSError:
                return
            self.done_at = time.monotonic()


class Client:
    """A connection with its own idea of reading; all clients share one selector loop, so none holds up another."""

    def __init__(self, url, kind, body):
        parts = urllib.parse.urlsplit(url)
        self.kind = kind
        self.socket = socket.socket()
        if kind != "normal":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(30)
        self.socket.connect((parts.hostname, parts.port))
        self.socket.sendall(wire.post_bytes(CHAT, body, {"Connection": "close"}))
        self.socket.setblocking(False)
        self.received = bytearray()
        self.last_at = self.ended_at = None
        self.longest_gap = 0.0
        self.reset = False

    def readable(self, most=1 << 20):
        """False once nothing more comes."""
        try:
            data = self.socket.recv(most)
        except BlockingIOError:
            return True
        except ConnectionError:
            self.reset, data = True, b""
        now = time.monotonic()
        if self.last_at is not None:
            self.longest_gap = max(self.longest_gap, now - self.last_at)
        self.last_at = now
        self.received += data
        if not data:
            self.ended_at = now
            self.socket.close()
        return bool(data)

    def leave(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def body(self):
        """The decoded body; None unless the framing ended cleanly."""
        head, _, rest = bytes(self.received).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head[:200]
        out = []
        while True:
            line, found, rest = rest.partition(b"\r\n")
            if not found:
                return None
            size = int(line, 16)
            if size == 0:
                return b"".join(out) if rest == b"\r\n" else None
            out.append(rest[:size])
            rest = rest[size + 2:]


class Crowd:
    def __init__(self, gateway, upstream, **kinds):
        body = json.dumps({"model": "m", "stream": True, "stream_options": {"include_usage": True},
                           "messages": [{"role": "user", "content": "one key"}]}).encode()
        self.clients = [Client(gateway.url, kind, body) for kind, count in kinds.items() for _ in range(count)]
        idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flight_followers") == len(self.clients), "all follow")
        upstream.go.set()

    def of(self, kind):
        return [client for client in self.clients if client.kind == kind]

    def run(self, limit):
        """Until the normal ones have ended. Those that leave do so after a while, one after the other."""
        poll = selectors.DefaultSelector()
        for client in self.of("normal"):
            poll.register(client.socket, selectors.EVENT_READ, client)
        leavers, tricklers = self.of("leaver"), self.of("trickle")
        began = leave_at = trickle_at = time.monotonic()
        open_count = len(self.of("normal"))
        while open_count and time.monotonic() < began + limit:
            for key, _ in poll.select(0.05):
                if not key.data.readable():
                    poll.unregister(key.fileobj)
                    open_count -= 1
            now = time.monotonic()
            if leavers and now - leave_at > 0.1:
                leavers.pop().leave()
                leave_at = now
            if now - trickle_at > 0.2:
                trickle_at = now
                tricklers = [client for client in tricklers if client.readable(4096)]
        assert open_count == 0, f"{open_count} of the normal followers did not end within {limit} s"


def normal_ones_are_whole(crowd, upstream):
    for client in crowd.of("normal"):
        assert client.body() == upstream.sent, (len(client.received), len(upstream.sent))
        late = client.ended_at - upstream.done_at
        assert late < 3, f"{late:.1f} s behind the upstream"


def test_below_the_entry_cap_nobody_waits_and_the_answer_is_stored():
    plan = [(0.01, event(FILLER)) for _ in range(200)] + [(0, event("", "stop")), (0, USAGE), (0, b"data: [DONE]\n\n")]
    upstream = SlowUpstream(plan)
    gateway = idem_test.serve(upstream.url, "--set", "listen.timeouts.write_stall=5s")
    crowd = Crowd(gateway, upstream, never=2, normal=3, leaver=8)
    crowd.run(60)
    normal_ones_are_whole(crowd, upstream)
    assert len(upstream.sent) > 3 << 20 and upstream.calls == 1
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_stored_total") == 1, "it is stored")
    # Those that never read hang in a write: its deadline ends them.
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_connections", side="client", state="open") == 0,
                         "the write deadline has ended the others", 20)
    for client in crowd.of("never"):
        while client.readable():
            pass
        assert client.body() is None or client.body() == upstream.sent


def test_above_the_cap_slow_ones_are_cut_and_nobody_waits_for_them():
    """9 MiB as fast as it goes, so that the slow ones are far behind; then a trickle for longer than the patience of 10 s."""
    plan = [(0, event(FILLER)) for _ in range(600)] + [(0.25, event("y")) for _ in range(60)]
    plan += [(0, event("", "stop")), (0, USAGE), (0, b"data: [DONE]\n\n")]
    upstream = SlowUpstream(plan)
    gateway = idem_test.serve(upstream.url)
    crowd = Crowd(gateway, upstream, never=2, trickle=1, normal=3, leaver=8)
    crowd.run(90)
    normal_ones_are_whole(crowd, upstream)
    for client in crowd.of("normal"):
        assert client.longest_gap < 3, f"{client.longest_gap:.1f} s without a byte"
    for client in crowd.of("never") + crowd.of("trickle"):
        while client.ended_at is None:
            client.readable()
        assert client.body() is None, "a slow follower got everything: the buffers are larger than this test thinks"
    assert upstream.calls == 1
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_not_stored_total", reason="entry_too_large") == 1, "it is counted", 10)
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flights") == 0, "no flight is left")


USAGE = b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],' \
        b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\n'

idem_test.main(globals())
