"""An upstream that answers with exact bytes, and can end the connection after any of them."""
import socket
import struct
import threading


class RawUpstream:
    """Calls `answer(request_bytes)` for each request; it returns (bytes, end) where `end` is "keep", "fin" or "rst"."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.settimeout(60)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        pending = b""
        try:
            while True:
                while b"\r\n\r\n" not in pending:
                    received = connection.recv(65536)
                    if not received:
                        return
                    pending += received
                head, _, rest = pending.partition(b"\r\n\r\n")
                length = 0
                for line in head.split(b"\r\n")[1:]:
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                rest = bytearray(rest)  # which grows without being copied
                while len(rest) < length:
                    received = connection.recv(65536)
                    if not received:
                        return
                    rest += received
                rest = bytes(rest)
                request, pending = head + b"\r\n\r\n" + rest[:length], rest[length:]
                self.requests.append(request)
                data, end = self.answer(request)
                connection.sendall(data)
                if end == "rst":
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                if end != "keep":
                    return
        except OSError:
            pass
        finally:
            connection.close()


def sized(body, content_type="application/json", status="200 OK", extra=""):
    """A response with Content-Length."""
    body = body if isinstance(body, bytes) else body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def chunked(pieces, content_type="text/event-stream", status="200 OK"):
    """A chunked response, one chunk a piece."""
    out = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    for piece in pieces:
        piece = piece if isinstance(piece, bytes) else piece.encode()
        out += b"%x\r\n" % len(piece) + piece + b"\r\n"
    return out + b"0\r\n\r\n"
