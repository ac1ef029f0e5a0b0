"""An upstream that sends exactly the bytes a test wants, piece by piece, and counts its calls."""
import json
import socket
import threading


class Call:
    """One request as it came: .method, .path, .headers (lower case), .body."""

    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = lines[0].split(" ", 2)
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self.body = body

    def json(self):
        return json.loads(self.body)


def read_call(stream):
    """None at the end of the connection."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return None
        head += line
    call = Call(head[:-4], b"")
    if call.headers.get("transfer-encoding", "").lower() == "chunked":
        while size := int(stream.readline().split(b";")[0], 16):
            call.body += stream.read(size)
            stream.readline()
        stream.readline()
    else:
        call.body = stream.read(int(call.headers.get("content-length", 0)))
    return call


class Upstream:
    """`answer(call)` gives the pieces to send (an iterable of bytes; it may wait between them). The connection is kept after the
    last piece unless a piece is None, which cuts it there and then."""

    def __init__(self, answer):
        self.answer, self.calls, self.lock = answer, [], threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.converse, args=(connection,), daemon=True).start()

    def converse(self, connection):
        with connection, connection.makefile("rb") as stream:
            try:
                while call := read_call(stream):
                    with self.lock:
                        self.calls.append(call)
                    for piece in self.answer(call):
                        if piece is None:
                            return
                        connection.sendall(piece)
            except OSError:
                return

    def close(self):
        self.listener.close()


def head(content_type, *fields):
    return f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n".encode() + b"".join(field.encode() + b"\r\n" for field in fields)


def chat_object(text="fine", model="m"):
    """A whole answer in object form, with its head."""
    body = json.dumps({"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": model, "choices": [
        {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}, separators=(",", ":")).encode()
    return head("application/json", f"Content-Length: {len(body)}") + b"\r\n" + body


def chat_events(texts=("fi", "ne"), model="m"):
    """The events of a whole answer in stream form, without framing."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": model}
    deltas = [{"role": "assistant", "content": ""}, *[{"content": text} for text in texts]]
    values = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    values.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    values.append({**base, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}})
    return [b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n" for value in values] + [b"data: [DONE]\n\n"]


def chunked(pieces):
    """A head and the pieces in chunked framing, last chunk included."""
    yield head("text/event-stream", "Transfer-Encoding: chunked") + b"\r\n"
    for piece in pieces:
        yield b"%x\r\n%s\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"
