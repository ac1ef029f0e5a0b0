"""A TCP relay on loopback whose manners a test can change while connections are open."""
import contextlib
import socket
import threading


class Relay:
    """Modes: `pass` forwards both ways; `blackhole` accepts and reads, and forwards nothing; `garbage` answers everything with
    bytes that no protocol knows."""

    def __init__(self, port):
        self.target, self.mode = port, "pass"
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.pump, args=(server, client, False), daemon=True).start()
        self.pump(client, server, True)

    def pump(self, source, sink, from_client):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                mode = self.mode
                if mode == "pass":
                    sink.sendall(data)
                elif mode == "garbage" and from_client:
                    source.sendall(b"\x00\xff*-7\r\n$999999999999\r\n!?" * 8)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
