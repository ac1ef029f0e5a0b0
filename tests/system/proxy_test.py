"""Everything that is not a cacheable call passes through untouched."""
import base64
import hashlib
import json
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire


class Echo:
    """An upstream that answers with what it received: request line, header lines, body length and digest."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = connection.makefile("rwb")
        while True:
            line = stream.readline()
            if not line:
                return
            headers = {}
            while (field := stream.readline()) not in (b"\r\n", b""):
                name, _, value = field.decode("latin-1").partition(":")
                headers.setdefault(name.strip().lower(), []).append(value.strip())
            digest, size = hashlib.sha256(), 0
            if headers.get("transfer-encoding") == ["chunked"]:
                while True:
                    n = int(stream.readline(), 16)
                    data = stream.read(n)
                    stream.readline()
                    if n == 0:
                        break
                    digest.update(data)
                    size += n
            else:
                left = int(headers.get("content-length", ["0"])[0])
                while left:
                    data = stream.read(min(left, 65536))
                    digest.update(data)
                    size += len(data)
                    left -= len(data)
            if headers.get("upgrade") == ["websocket"]:
                key = headers["sec-websocket-key"][0] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
                accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
                stream.write(f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                             f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
                stream.flush()
                while data := connection.recv(65536):
                    connection.sendall(data[::-1])
                return
            body = json.dumps({"line": line.decode().strip(), "headers": headers, "size": size, "sha256": digest.hexdigest()}).encode()
            if line.startswith(b"HEAD"):
                stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
            else:
                stream.write(b"HTTP/1.1 200 OK\r\nX-Upstream: yes\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            stream.flush()


def send(gateway, text, body=b""):
    with wire.connect(gateway.url) as connection:
        connection.sendall(text.replace("\n", "\r\n").encode() + body)
        return wire.read_answer(connection)


def test_any_method_and_path():
    gateway = idem_test.serve(Echo().url)
    for method in ("GET", "DELETE", "OPTIONS", "PATCH", "PUT", "PROPFIND"):
        length = "Content-Length: 0\n" if method in ("PATCH", "PUT") else ""
        got = send(gateway, f"{method} /some/where?x=1&y=%20 HTTP/1.1\nHost: h\n{length}\n")
        assert got.status == 200 and json.loads(got.body)["line"] == f"{method} /some/where?x=1&y=%20 HTTP/1.1", got.body
        assert got.headers["x-cache"] == "BYPASS" and got.headers["x-upstream"] == "yes"


def test_headers_end_to_end_and_not_hop_by_hop():
    gateway = idem_test.serve(Echo().url)
    got = send(gateway, "GET /h HTTP/1.1\nHost: evil\nAuthorization: Bearer k\nX-Custom: 1\nx-custom: 2\nKeep-Alive: 5\n"
                        "Connection: X-Hop\nX-Hop: 1\nTE: trailers\nProxy-Authorization: p\nIdem-TTL: 5\nAccept-Encoding: gzip\n\n")
    seen = json.loads(got.body)["headers"]
    assert seen["authorization"] == ["Bearer k"] and seen["x-custom"] == ["1", "2"] and seen["accept-encoding"] == ["gzip"]
    assert seen["host"] != ["evil"] and seen["via"][0].startswith("1.1 idem-")
    assert not {"keep-alive", "x-hop", "te", "proxy-authorization", "idem-ttl"} & set(seen), seen


def test_no_field_of_ours_comes_twice():
    """Not with the upstream's Date beside ours, nor with another Idem behind this one."""
    body = json.dumps({"id": "c", "choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}]})
    upstream = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(body, extra="Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n"), "keep"))
    behind = idem_test.serve(upstream.url)
    gateway = idem_test.serve(behind.url)
    chat = json.dumps({"model": "m", "messages": []}).encode()
    for request in (wire.post_bytes("/v1/chat/completions", chat), wire.post_bytes("/v1/chat/completions", chat), wire.post_bytes("/v1/files", b"", method="GET")):
        with wire.connect(gateway.url) as connection:
            connection.sendall(request)
            head = connection.recv(65536).partition(b"\r\n\r\n")[0].decode()
        names = [line.partition(":")[0].lower() for line in head.split("\r\n")[1:]]
        for name in ("date", "x-cache", "idem-key", "idem-request", "idem-epoch", "idem-digest", "idem-guarantee", "x-request-id"):
            assert names.count(name) <= 1, (name, head)
        assert names.count("date") == 1 and "2024" not in head, head


def test_large_uploads_stream_through():
    gateway = idem_test.serve(Echo().url)
    part = os.urandom(1 << 20)
    digest, count = hashlib.sha256(), 64
    for framing in ("length", "chunked"):
        digest = hashlib.sha256()
        with wire.connect(gateway.url) as connection:
            header = f"Content-Length: {len(part) * count}" if framing == "length" else "Transfer-Encoding: chunked"
            connection.sendall(f"POST /v1/files HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n{header}\r\n\r\n".encode())
            for _ in range(count):
                digest.update(part)
                connection.sendall(part if framing == "length" else b"%x\r\n" % len(part) + part + b"\r\n")
            if framing == "chunked":
                connection.sendall(b"0\r\n\r\n")
            got = wire.read_answer(connection)
        seen = json.loads(got.body)
        assert seen["size"] == len(part) * count and seen["sha256"] == digest.hexdigest(), framing
        resident = next(int(line.split()[1]) for line in open(f"/proc/{gateway.pid}/status") if line.startswith("VmRSS"))
        assert resident < 60_000, f"{resident} kB resident while streaming {framing}"


def test_head_and_expect():
    gateway = idem_test.serve(Echo().url)
    with wire.connect(gateway.url) as connection:
        connection.sendall(b"HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n")
        head = connection.recv(65536)
        assert head.startswith(b"HTTP/1.1 200") and head.endswith(b"\r\n\r\n"), head
    with wire.connect(gateway.url) as connection:
        connection.sendall(b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 100"), "no interim answer"
        connection.sendall(b"hello")
        got = wire.read_answer(connection)
        assert json.loads(got.body)["size"] == 5 and "expect" not in json.loads(got.body)["headers"]


def test_websocket_is_tunnelled():
    gateway = idem_test.serve(Echo().url)
    with wire.connect(gateway.url) as connection:
        connection.sendall(b"GET /v1/responses HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                           b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(1)
        assert head.startswith(b"HTTP/1.1 101") and b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, head
        for text in (b"abc", b"x" * 1000 + b"y"):
            connection.sendall(text)
            got = b""
            while len(got) < len(text):
                got += connection.recv(65536)
            assert got == text[::-1]


def test_other_upgrades_are_ignored():
    """A client that would like HTTP/2 (curl --http2) is cached like any other, and no tunnel is opened for it."""
    seen = []

    def answer(request):
        seen.append(request.split(b"\r\n\r\n")[0].lower())
        return raw_upstream.sized(json.dumps({
            "id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})), "keep"

    gateway = idem_test.serve(raw_upstream.RawUpstream(answer).url)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
    got = []
    for upgrade in ("h2c", "TLS/1.0", "h2c"):
        wish = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": upgrade, "HTTP2-Settings": "AAMAAABkAAQAoAAAAAIAAAAA"}
        got.append(wire.post(gateway.url, "/v1/chat/completions", body, wish))
    assert [(a.status, a.headers["x-cache"]) for a in got] == [(200, "MISS"), (200, "HIT"), (200, "HIT")]
    assert len(seen) == 1 and b"upgrade" not in seen[0] and b"http2-settings" not in seen[0], seen


def test_errors_of_the_upstream_keep_their_status_and_retry_headers():
    upstream = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(
        "busy", "text/plain", "503 Busy", "Retry-After: 3\r\nretry-after-ms: 2500\r\nx-should-retry: true\r\n"), "keep"))
    gateway = idem_test.serve(upstream.url)
    got = send(gateway, "GET /v1/whatever HTTP/1.1\nHost: h\n\n")
    assert got.status == 503 and got.body == b"busy"
    assert [got.headers[n] for n in ("retry-after", "retry-after-ms", "x-should-retry")] == ["3", "2500", "true"]


def test_an_upstream_that_is_not_there_is_a_502_with_a_reason():
    gateway = idem_test.serve(f"http://127.0.0.1:{idem_test.free_port()}")
    for path in ("/v1/models", "/v1/chat/completions"):
        body = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
        got = wire.post(gateway.url, path, body)
        assert got.status == 502 and json.loads(got.body)["error"]["code"] == "upstream_connect", got.body


def test_a_request_that_comes_round_is_refused():
    gateway = idem_test.serve(f"http://127.0.0.1:{idem_test.free_port()}")
    via = send(gateway, "GET /x HTTP/1.1\nHost: h\n\n").headers["via"]
    got = send(gateway, f"GET /x HTTP/1.1\nHost: h\nVia: 1.0 other, {via}\n\n")
    assert got.status == 508 and json.loads(got.body)["error"]["code"] == "loop_detected", got.body


def test_caller_chosen_addresses_reach_nobody():
    canary = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized("{}"), "keep"))
    redirect = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized("", status="302 Found", extra=f"Location: {canary.url}/\r\n"), "keep"))
    gateway = idem_test.serve(redirect.url)
    host = canary.url.removeprefix("http://")
    for text in (f"GET {canary.url}/x HTTP/1.1\nHost: {host}\n\n", f"GET /x HTTP/1.1\nHost: {host}\n\n",
                 f"GET /x HTTP/1.1\nHost: h\nX-Forwarded-Host: {host}\nForwarded: host={host}\n\n"):
        assert send(gateway, text).status == 302
    for field in ("api_base", "base_url", "user_config"):
        body = json.dumps({"model": "m", "messages": [], field: canary.url}).encode()
        wire.post(gateway.url, "/v1/chat/completions", body)
    assert not canary.requests


def test_an_answer_that_comes_before_the_upload_is_over_is_relayed_at_once():
    """Whether the upstream hangs up then, reads on or just stops reading; behind it the connection closes."""
    answer = raw_upstream.sized('{"error":"too large"}', status="413 Too Large")
    for after in ("close", "read", "stop"):
        listener = socket.create_server(("127.0.0.1", 0))

        def serve(listener=listener, after=after):
            connection, _ = listener.accept()
            connection.recv(1000)
            connection.sendall(answer)
            if after == "close":
                connection.close()
            while after == "read" and connection.recv(65536):
                pass
            held.append(connection)

        held = []
        threading.Thread(target=serve, daemon=True).start()
        gateway = idem_test.serve(f"http://127.0.0.1:{listener.getsockname()[1]}")
        for framing, piece in ((f"Content-Length: {50 << 20}", b"x" * 100_000), ("Transfer-Encoding: chunked", b"186a0\r\n" + b"x" * 100_000 + b"\r\n")):
            with wire.connect(gateway.url, 10) as client:
                client.sendall(f"POST /v1/files HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n".encode() + piece)
                got = wire.read_answer(client)
                assert (got.status, got.clean, got.body) == (413, True, b'{"error":"too large"}'), (after, framing, got.status, got.body)
                assert got.headers["connection"] == "close", got.headers
                assert client.recv(1) == b"", "the connection closes"
            threading.Thread(target=serve, daemon=True).start()
        gateway.stop()
        listener.close()


def test_the_first_byte_deadline_counts_from_the_end_of_the_upload():
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    silent = socket.create_server(("127.0.0.1", 0))
    for server, expected in ((silent, 504), (raw_upstream.RawUpstream(lambda request: (raw_upstream.sized("{}"), "keep")).listener, 200)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": [{"url": f"http://127.0.0.1:{server.getsockname()[1]}"}],
                                                                    "timeouts": {"first_byte": "700ms"}}]}, file)
        gateway = idem_test.serve(config=path)
        with wire.connect(gateway.url, 10) as client:
            client.sendall(b"POST /v1/files HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n")
            for byte in (b"a", b"b", b"c", b"d"):
                time.sleep(0.4)  # the upload's pace, slower than the deadline
                client.sendall(byte)
            got = wire.read_answer(client)
        assert got.status == expected, (got.status, got.body)


idem_test.main(globals())
