"""Clients that see the wire: whether an answer ended cleanly, and what came before its end."""
import socket
import urllib.parse


class Answer:
    """status, headers (lower-case names), body as decoded so far, and whether the framing ended as it should."""

    def __init__(self):
        self.status, self.headers, self.body, self.clean, self.trailers = 0, {}, b"", False, {}


def connect(url, timeout=30.0):
    parts = urllib.parse.urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=timeout)


def post_bytes(path, body, headers=None, method="POST"):
    lines = [f"{method} {path} HTTP/1.1", "Host: test", f"Content-Length: {len(body)}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def read_answer(connection, pending=b""):
    """Reads one answer to its end, whatever the end is."""
    answer = Answer()

    def more():
        nonlocal pending
        try:
            received = connection.recv(65536)
        except ConnectionError:
            return False
        pending += received
        return bool(received)

    while b"\r\n\r\n" not in pending:
        if not more():
            return answer
    head, _, pending = pending.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    answer.status = int(lines[0].split(" ")[1])
    for line in lines[1:]:
        name, _, value = line.partition(":")
        answer.headers[name.strip().lower()] = value.strip()
    if "content-length" in answer.headers:
        length = int(answer.headers["content-length"])
        while len(pending) < length:
            if not more():
                answer.body = pending
                return answer
        answer.body, answer.clean = pending[:length], True
        return answer
    if answer.headers.get("transfer-encoding") != "chunked":
        while more():
            pass
        answer.body = pending
        return answer
    while True:
        while b"\r\n" not in pending:
            if not more():
                return answer
        size_line, _, pending = pending.partition(b"\r\n")
        size = int(size_line.split(b";")[0], 16)
        if size == 0:
            while b"\r\n" not in pending or not (pending.startswith(b"\r\n") or b"\r\n\r\n" in pending):
                if not more():
                    return answer
            for line in pending.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n"):
                name, colon, value = line.partition(":")
                if colon:
                    answer.trailers[name.strip().lower()] = value.strip()
            answer.clean = True
            return answer
        while len(pending) < size + 2:
            if not more():
                answer.body += pending[:size]
                return answer
        answer.body += pending[:size]
        pending = pending[size + 2:]


def post(url, path, body, headers=None, timeout=30.0):
    with connect(url, timeout) as connection:
        connection.sendall(post_bytes(path, body, headers))
        return read_answer(connection)
