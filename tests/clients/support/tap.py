"""A hop before a gateway that notes what a client writes and what it is told: for clients that show neither."""
import http.client
import http.server
import threading
import urllib.parse

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        forward = http.client.HTTPConnection(self.server.behind, timeout=30)
        try:
            forward.request("POST", self.path, body, {name: text for name, text in self.headers.items() if name.lower() not in HOP_BY_HOP})
            answer = forward.getresponse()
            data = answer.read()
        finally:
            forward.close()
        self.server.seen.append((self.path, body, answer))
        self.send_response(answer.status)
        for name, text in answer.headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def start(url):
    """Runs in a thread of this process; .url is its address, .seen the (path, body, answer) of every call in turn."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.behind = urllib.parse.urlsplit(url).netloc
    server.seen = []
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
