"""An upstream with bad manners, for what a simulated or real engine does not do: errors of every class, a file store, a
stream without end, in OpenAI's shape, under /v1/messages in Anthropic's and under …/models/MODEL:METHOD in Gemini's. What it does is
chosen by the model's name. GET /provider/stats tells what it saw."""
import hashlib
import http.server
import json
import re
import threading
import time

ERRORS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 409: "conflict_error",
          422: "unprocessable_entity_error", 429: "rate_limit_error", 500: "server_error", 503: "overloaded_error", 529: "overloaded_error"}


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.seen = {"calls": 0, "aborted_streams": 0, "by_model": {}}

    def count(self, model):
        with self.lock:
            self.seen["calls"] += 1
            self.seen["by_model"][model] = self.seen["by_model"].get(model, 0) + 1
            return self.seen["by_model"][model]


def multipart_file(body, content_type):
    """(name, bytes) of the part called `file`."""
    boundary = re.search(r'boundary="?([^";]+)', content_type).group(1).encode()
    for part in body.split(b"--" + boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if b'name="file"' in head:
            return re.search(rb'filename="([^"]*)"', head).group(1).decode(), content[:-2]
    raise ValueError("no part called file")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def state(self):
        return self.server.state

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, status, value, **headers):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(data)

    @property
    def anthropic(self):
        return self.path.startswith("/v1/messages")

    @property
    def gemini(self):
        return re.search(r"models/[^/]+:", self.path)

    def error(self, status, **headers):
        kind = ERRORS[status]
        if self.gemini:
            self.answer(status, {"error": {"code": status, "message": f"made to fail with {status}", "status": kind.upper()}}, **headers)
            return
        if self.anthropic:
            self.answer(status, {"type": "error", "error": {"type": kind, "message": f"made to fail with {status}"}, "request_id": f"req-{status}"},
                        request_id=f"req-{status}", **headers)
            return
        self.answer(status, {"error": {"message": f"made to fail with {status}", "type": kind, "param": None, "code": f"code_{status}"}},
                    x_request_id=f"req-{status}", **headers)

    def do_GET(self):
        if self.path == "/provider/stats":
            with self.state.lock:
                seen = json.loads(json.dumps(self.state.seen))
            self.answer(200, seen)
        else:
            self.error(404)

    def do_POST(self):
        body = self.body()
        if self.path == "/v1/files":
            name, content = multipart_file(body, self.headers["Content-Type"])
            self.answer(200, {"id": "file-" + hashlib.sha256(content).hexdigest(), "object": "file", "bytes": len(content),
                              "created_at": 1700000000, "filename": name, "purpose": "batch", "status": "processed"})
            return
        model = re.search(r"models/([^:]+):", self.path)[1] if self.gemini else json.loads(body)["model"]
        times = self.state.count(model)
        if found := re.fullmatch(r"fail-(\d+)", model):
            self.error(int(found[1]))
        elif model.startswith("busy-once") and times == 1:
            self.error(429, retry_after_ms="20")
        elif model.startswith("endless"):
            self.endless()
        elif self.anthropic:
            self.answer(200, {"id": "msg_p", "type": "message", "role": "assistant", "model": model, "content": [{"type": "text", "text": "fine"}],
                              "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}})
        else:
            self.answer(200, {"id": "chatcmpl-p", "object": "chat.completion", "created": 1700000000, "model": model, "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "fine"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})

    def endless(self):
        """Chunks until the other side goes away, at most 30 s."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.anthropic:
            self.event({"type": "message_start", "message": {
                "id": "msg_e", "type": "message", "role": "assistant", "model": "endless", "content": [], "stop_reason": None,
                "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}})
            self.event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        if self.gemini:
            chunk = {"candidates": [{"content": {"parts": [{"text": "on and "}], "role": "model"}, "index": 0}]}
            self.repeat(chunk)
            return
        chunk = {"id": "chatcmpl-e", "object": "chat.completion.chunk", "created": 1700000000, "model": "endless",
                 "choices": [{"index": 0, "delta": {"content": "on and "}, "finish_reason": None}]}
        if self.anthropic:
            chunk = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "on and "}}
        self.repeat(chunk)

    def repeat(self, chunk):
        end = time.monotonic() + 30
        try:
            while time.monotonic() < end:
                self.event(chunk)
                time.sleep(0.02)
        except OSError:
            with self.state.lock:
                self.state.seen["aborted_streams"] += 1
        self.close_connection = True

    def event(self, value):
        name = f"event: {value['type']}\n" if "type" in value else ""
        data = f"{name}data: {json.dumps(value)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # clients that go away are part of the tests


def start():
    """Runs in a thread of this process; .url is its address."""
    server = Server(("127.0.0.1", 0), Handler)
    server.state = State()
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
