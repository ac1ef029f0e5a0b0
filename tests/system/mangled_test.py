"""Requests and answers mangled at random, from fixed seeds: nothing ends the gateway, what goes upstream is strict HTTP/1.1,
no request goes upstream that its sender is not answered for, and nothing broken is stored."""
import json
import os
import random
import re
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

CHAT = "/v1/chat/completions"
CASES = 5000 if idem_test.LONG else 1000
WORKERS = 8
OBJECT = json.dumps({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hello you"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()


def event(choices, **more):
    return b"data: " + json.dumps({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                                   "choices": choices, **more}).encode() + b"\n\n"


STREAM = [event([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]),
          event([{"index": 0, "delta": {"content": "hi"}, "finish_reason": None}]),
          event([{"index": 0, "delta": {}, "finish_reason": "stop"}]),
          event([], usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}), b"data: [DONE]\n\n"]

ANYWHERE = [b"\r", b"\n", b"\r\n", b"\0", b" ", b"\t", b":", b",", b";", b"\x0b", b"\xff", b"\r\n\r\n", b"0\r\n\r\n", b"A" * 9000,
            b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n",
            b"Connection: close\r\n", b"Connection: content-length\r\n", b"ffffffffffffffff", b"-1", b"+5", b" folded\r\n"]
IN_REQUESTS = [b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", b"Host: y\r\n", b"Expect: 100-continue\r\n", b"TE: trailers\r\n",
               b"Upgrade: websocket\r\nConnection: upgrade\r\n", b"HTTP/1.1", b"%00", b"..", b"//", b"#", b"?", b"@", b"Trailer: host\r\n",
               b"Cache-Control: only-if-cached\r\n", b"Idem-TTL: 1s\r\n", b"Range: bytes=0-1\r\n"]
IN_ANSWERS = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n",
              b"HTTP/1.1 101 x\r\n\r\n", b"HTTP/1.0", b"204", b"304", b"500", b"Content-Encoding: gzip\r\n", b"Set-Cookie: a=b\r\n",
              b"data: [DONE]\n\n", b"data: x\n\n", b"event: error\n", b'"error":{"message":"x"},', b"\xef\xbb\xbf", b"null", b"{}", b"["]


def mangled(rng, message, special):
    out = bytearray(message)
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(len(out) + 1)
        line = rng.choice([found.end() for found in re.finditer(b"\n", bytes(out))] or [0])
        what = rng.randrange(6)
        if what == 0:
            del out[at:at + 1]
        elif what == 1:
            out[at:at] = rng.choice(ANYWHERE + special)
        elif what == 2:
            out[line:line] = rng.choice(ANYWHERE + special)
        elif what == 3:
            del out[at:]
        elif what == 4:
            out[at:at + 1] = bytes([rng.randrange(256)])
        else:
            other = rng.randrange(len(out) + 1)
            out[at:at] = out[min(at, other):max(at, other)]
    return bytes(out)


def in_parallel(case, gateway):
    """Runs case(n) for all numbers; returns what they complained of."""
    problems = []

    def work(first):
        for n in range(first, CASES, WORKERS):
            found = case(n)
            if found:
                problems.append((n, *found))

    threads = [threading.Thread(target=work, args=(first,)) for first in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gateway.alive(), gateway.output()[-4000:]
    return problems


class StrictUpstream:
    """Takes nothing but strict HTTP/1.1, and tells by the tag in X-Case what came."""
    HEAD = re.compile(rb"[A-Z-]+ [\x21-\x7e]+ HTTP/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ \t]*[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n")

    def __init__(self):
        self.problems, self.counts, self.lock = [], {}, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as stream:
            try:
                while self.one(stream):
                    connection.sendall(raw_upstream.sized(OBJECT))
            except OSError:
                pass

    def one(self, stream):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline(1 << 20)
            if not line:
                return False
            head += line
        names = [line.split(b":")[0].lower() for line in head.split(b"\r\n")[1:-2]]
        sized, chunked = names.count(b"content-length"), names.count(b"transfer-encoding")
        if not self.HEAD.fullmatch(head) or names.count(b"host") != 1 or sized + chunked > 1:
            self.problems.append(head)
        if sized:
            stream.read(int(re.search(rb"(?i)\r\ncontent-length: *(\d+)\r\n", head)[1]))
        while chunked:
            line = stream.readline(100)
            if not line:
                return False
            if not re.fullmatch(rb"[0-9A-Fa-f]+\r\n", line):
                self.problems.append((head, line))
                return False
            size = int(line, 16)
            data = stream.read(size + 2)
            if not data.endswith(b"\r\n"):
                return False
            if size == 0:
                break
        for tag in re.findall(rb"(?i)\r\nx-case: case-(\d+)-end\r\n", head)[:1]:
            with self.lock:
                self.counts[int(tag)] = self.counts.get(int(tag), 0) + 1
        return True


def request(rng, n, part):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"{n} {part}"}]}).encode()
    fields = b"Host: t\r\nX-Case: case-%d-end\r\nContent-Type: application/json\r\nAuthorization: Bearer a\r\n" % n
    return rng.choice([
        b"POST /v1/chat/completions HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (fields, len(body), body),
        b"POST /v1/chat/completions HTTP/1.1\r\n%bTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (fields, len(body), body),
        b"GET /v1/models HTTP/1.1\r\n%b\r\n" % fields,
        b"POST /v1/other HTTP/1.1\r\n%bExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello" % fields,
        b"PUT /f HTTP/1.1\r\n%bTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n" % fields,
        b"POST /v1/chat/completions HTTP/1.0\r\n%bConnection: keep-alive\r\nContent-Length: %d\r\n\r\n%b" % (fields, len(body), body)])


def exchange(gateway, message):
    """Sends it; all that comes back until the gateway closes."""
    received = b""
    with wire.connect(gateway.url, 10) as connection:
        try:
            connection.sendall(message)
            while data := connection.recv(65536):
                received += data
        except ConnectionError:
            pass
    return received


def statuses(received):
    """The status of each answer, and what is left behind the last whole one."""
    found = []
    while head := re.match(rb"HTTP/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n", received):
        status, rest = int(head[1]), received[head.end():]
        length = re.search(rb"(?im)^content-length: *(\d+)\r$", head[2])
        if status >= 200 and length:
            if len(rest) < int(length[1]):
                break
            rest = rest[int(length[1]):]
        elif status >= 200 and b"chunked" in head[2].lower():
            while rest and (size := int(rest.partition(b"\r\n")[0], 16)):
                rest = rest.partition(b"\r\n")[2][size + 2:]
            rest = rest.partition(b"\r\n\r\n")[2]
        found.append(status)
        received = rest
    return [status for status in found if status >= 200], received


def test_requests():
    upstream = StrictUpstream()
    gateway = idem_test.serve(upstream.url, "--set", "listen.timeouts.head=300ms", "--set", "listen.timeouts.body_idle=300ms",
                              "--set", "listen.timeouts.keep_alive=1s")

    def case(n):
        rng = random.Random(n)
        parts = [request(rng, n, part) for part in range(rng.choice([1, 1, 2, 3]))]
        message = b"".join(mangled(rng, part, IN_REQUESTS) if rng.random() < 0.8 else part for part in parts)
        message += b"GET /end HTTP/1.1\r\nHost: t\r\nX-Case: case-%d-end\r\nConnection: close\r\n\r\n" % n
        received = exchange(gateway, message)
        answered, rest = statuses(received)
        upstreams = upstream.counts.get(n, 0)
        if upstreams > len(answered) + (1 if rest else 0):
            return "more requests upstream than answers", message, upstreams, received
        if 500 in answered:
            return "an error of its own", message, received
        return None

    problems = in_parallel(case, gateway)
    assert not problems, problems[:3]
    assert not upstream.problems, upstream.problems[:3]
    assert sum(upstream.counts.values()) > CASES // 10
    assert idem_test.http_ok(gateway.admin, "/readyz")


def test_answers():
    plans = {}

    def answer(received):
        return plans[json.loads(received.partition(b"\r\n\r\n")[2])["messages"][0]["content"]]

    upstream = raw_upstream.RawUpstream(answer)
    gateway = idem_test.serve(upstream.url)

    def case(n):
        rng = random.Random(n)
        stream = rng.random() < 0.5
        whole = raw_upstream.chunked(STREAM) if stream else rng.choice(
            [raw_upstream.sized(OBJECT), raw_upstream.chunked([OBJECT[:30], OBJECT[30:]], "application/json")])
        plans[str(n)] = plan = mangled(rng, whole, IN_ANSWERS), rng.choice(["fin", "fin", "rst"])
        body = {"model": "m", "messages": [{"role": "user", "content": str(n)}]}
        if stream:
            body.update(stream=True, stream_options={"include_usage": True})
        first = wire.post(gateway.url, CHAT, json.dumps(body).encode())
        second = wire.post(gateway.url, CHAT, json.dumps(body).encode())
        for got in (first, second):
            if got.status == 0:
                return "no answer", plan
            if got.status == 500 and b"500" not in plan[0]:
                return "an error of its own", plan, got.body
        if second.headers.get("x-cache") == "HIT":
            if not (first.clean and second.clean and first.body == second.body):
                return "another answer than the first, or one that was broken", plan, first.body, second.body
            if "set-cookie" in second.headers:
                return "a cookie from the cache", plan
            if not (second.body.rstrip().endswith(b"[DONE]") if stream else json.loads(second.body)["choices"][0]["finish_reason"]):
                return "an unfinished answer was stored", plan
        return None

    problems = in_parallel(case, gateway)
    assert not problems, problems[:3]


idem_test.main(globals())
