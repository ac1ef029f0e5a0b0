#!/usr/bin/env python3
"""Answers arrive byte for byte, wherever the network split them, on MISS, COALESCED and HIT.

The upstream writes each answer in two pieces, split at every offset in turn, and once in pieces of one byte. It sends the second piece only
when the first one has reached both clients of a stream, so that the split is one for everybody on the way.
"""
import fcntl
import json
import os
import socket
import struct
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import wire

TEXT = "h\u00e9 \u65e5\u672c \U0001f600\u0301"  # two, three and four bytes, and a mark that combines
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def chunk(delta, finish=None):
    return dump({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                 "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def sse(end):
    """Everything that the grammar of event streams allows: comments, fields nobody reads, `data:` with and without its space, an event
    whose data stand in several lines, names."""
    first, second = chunk({"role": "assistant", "content": TEXT}).split('"choices"', 1)
    blocks = [[": a comment, \u00e9"], ["id: 7", "retry: 10", "data:" + chunk({"role": "assistant", "content": ""})],
              ["data: " + first, 'data:"choices"' + second], ["event: message", "data: " + chunk({}, "stop")],
              ["data: " + dump({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": USAGE})],
              [":"], ["data: [DONE]"]]
    return "".join(line + end for block in blocks for line in [*block, ""]).encode()


def ndjson(end):
    line = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    lines = [{**line, "message": {"role": "assistant", "content": TEXT}, "done": False},
             {**line, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "eval_count": 2, "prompt_eval_count": 1}]
    return "".join(dump(each) + end for each in lines).encode()


def message_events():
    start = {"type": "message", "id": "m1", "role": "assistant", "model": "m", "content": [], "stop_reason": None, "stop_sequence": None,
             "usage": {"input_tokens": 1, "output_tokens": 1}}
    events = [("message_start", {"message": start}), ("ping", {}), ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
              ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": TEXT}}), ("content_block_stop", {"index": 0}),
              ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 2}}), ("message_stop", {})]
    return "".join(f"event: {kind}\r\ndata: {dump({'type': kind, **more})}\r\n\r\n" for kind, more in events).encode()


OBJECT = ("\r\n{ " + dump({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": TEXT + "\r\n"}, "finish_reason": "stop"}], "usage": USAGE})[1:] + "\r\n").encode()
CHAT, MESSAGES, OLLAMA = "/v1/chat/completions", "/v1/messages", "/api/chat"


class Splitter:
    """Answers a call with `body`, split where its prompt says, the second piece once the gate is open."""

    def __init__(self, body, content_type, chunked):
        self.body, self.type, self.chunked = body, content_type, chunked
        self.gate, self.calls, self.guard = threading.Event(), 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    @staticmethod
    def read(connection):
        data = b""
        while True:
            head, blank, rest = data.partition(b"\r\n\r\n")
            if blank:
                length = next(int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
                if len(rest) >= length:
                    return json.loads(rest)
            received = connection.recv(65536)
            if not received:
                return None
            data += received

    def write(self, connection, piece):
        """Back when the other side has it, so that what follows is a segment of its own."""
        if not piece:
            return
        connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if self.chunked else piece)
        while struct.unpack("i", fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4)))[0] > 0:
            time.sleep(0)

    def serve(self, connection):
        try:
            while (call := self.read(connection)) is not None:
                with self.guard:
                    self.calls += 1
                at = int(call["messages"][0]["content"].split()[-1])
                framing = "Transfer-Encoding: chunked" if self.chunked else f"Content-Length: {len(self.body)}"
                connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: {self.type}\r\n{framing}\r\n\r\n".encode())
                self.write(connection, self.body[:at])
                self.gate.wait(60)
                rest = self.body[at:]
                for piece in [rest] if at else [rest[n:n + 1] for n in range(len(rest))]:  # split at 0: a byte at a time
                    self.write(connection, piece)
                if self.chunked:
                    connection.sendall(b"0\r\n\r\n")
        except OSError:
            pass
        finally:
            connection.close()


def body_so_far(raw):
    """What is there of a chunked body."""
    rest, body = raw.partition(b"\r\n\r\n")[2], b""
    while (line := rest.partition(b"\r\n"))[1]:
        size = int(line[0], 16)
        body += line[2][:size]
        rest = line[2][size + 2:]
        if size == 0 or len(line[2]) < size:
            break
    return body


class Client:
    """One connection that is kept, and what has been read of its answer."""

    def __init__(self, gateway):
        self.connection, self.raw = wire.connect(gateway.url, 60), b""

    def send(self, path, request):
        self.raw = b""
        self.connection.sendall(wire.post_bytes(path, dump(request).encode()))

    def read_to(self, size):
        """Until so many bytes of the body are there."""
        while len(body_so_far(self.raw)) < size:
            received = self.connection.recv(65536)
            assert received, self.raw
            self.raw += received

    def answer(self):
        return wire.read_answer(self.connection, self.raw)


AT_ONCE = 50


def sweep(body, path, content_type, chunked, *, stream=True, usage=True, expected=None):
    expected = body if expected is None else expected
    upstream = Splitter(body, content_type, chunked)
    gateway = idem_test.serve(upstream.url)
    seats = [[Client(gateway), Client(gateway)] for _ in range(AT_ONCE)]

    def request(at):
        call = {"model": "m", "max_tokens": 9, "stream": stream, "messages": [{"role": "user", "content": f"split at {at}"}]}
        return {**call, "stream_options": {"include_usage": True}} if path == CHAT and stream and usage else call

    def take(client, at):
        answer = client.answer()
        assert answer.status == 200 and answer.clean, (at, answer.status, answer.body)
        assert answer.headers["content-type"] == content_type, (at, answer.headers)
        assert answer.body == expected, (at, answer.headers["x-cache"], answer.body)
        return answer.headers["x-cache"]

    offsets = range(len(body))
    for begin in range(0, len(body), AT_ONCE):
        batch = list(zip(offsets[begin:begin + AT_ONCE], seats))
        upstream.gate.clear()
        for at, pair in batch:
            for client in pair:
                client.send(path, request(at))
        idem_test.wait_until(lambda n=2 * len(batch): idem_test.metric(gateway, "idem_flight_followers") == n, "each call has two clients", 30)
        if stream and expected == body:
            for at, pair in batch:
                for client in pair:
                    client.read_to(at)
        upstream.gate.set()
        for at, pair in batch:
            assert sorted(take(client, at) for client in pair) == ["COALESCED", "MISS"], at
        # A stream's end comes before its answer is stored: until then the next caller joins.
        idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flights") == 0, "all is stored", 30)
        for at, (client, _) in batch:
            client.send(path, request(at))
        for at, (client, _) in batch:
            assert take(client, at) == "HIT", at
    assert upstream.calls == len(body)


def test_event_streams():
    for end in ("\n", "\r\n"):
        for chunked in (True, False):
            sweep(sse(end), CHAT, "text/event-stream", chunked)


def test_event_streams_whose_usage_is_hidden():
    for end in ("\n", "\r\n"):
        shown = sse(end)
        parts = shown.split((end + end).encode())
        hidden = (end + end).encode().join(part for part in parts if b'"usage"' not in part)
        sweep(shown, CHAT, "text/event-stream", True, usage=False, expected=hidden)


def test_named_events():
    sweep(message_events(), MESSAGES, "text/event-stream", True)


def test_lines_of_json():
    for end in ("\n", "\r\n"):
        for chunked in (True, False):
            sweep(ndjson(end), OLLAMA, "application/x-ndjson", chunked)


def test_objects():
    for chunked in (True, False):
        sweep(OBJECT, CHAT, "application/json", chunked, stream=False)


idem_test.main(globals())
