"""Upstreams behind an HTTP proxy: CONNECT for https, the whole URL for http, credentials, and what goes wrong there."""
import base64
import contextlib
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

ANSWER = raw_upstream.sized(json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}))
COUNT = iter(range(1 << 30))


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Proxy:
    """Sends everything to `server`, whatever it is asked for; `heads` are the requests it was asked with."""

    def __init__(self, server, answer=b"HTTP/1.1 200 Connection established\r\n\r\n"):
        self.server, self.answer, self.heads = server, answer, []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        pending = b""
        while b"\r\n\r\n" not in pending:
            received = connection.recv(65536)
            if not received:
                return
            pending += received
        head = pending.partition(b"\r\n\r\n")[0].decode()
        self.heads.append(head)
        behind = socket.create_connection(self.server)
        if head.startswith("CONNECT "):
            connection.sendall(self.answer)
            if not self.answer.startswith(b"HTTP/1.1 2"):
                return connection.close()
        else:
            behind.sendall(pending)
        threading.Thread(target=pump, args=(connection, behind), daemon=True).start()
        return pump(behind, connection)


class TlsUpstream:
    """A server for the name `model.internal`, which nobody can resolve."""

    def __init__(self):
        if not shutil.which("openssl"):
            raise idem_test.Skip("there is no openssl to make a certificate with")
        folder = pathlib.Path(idem_test.scratch())
        self.certificate, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=model.internal", "-addext", "subjectAltName=DNS:model.internal", "-keyout", key, "-out", self.certificate],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.requests = []
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = listener.getsockname()

        def serve(connection):
            with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as stream:
                pending = b""
                while received := stream.recv(65536):
                    pending += received
                    while b"\r\n\r\n" in pending:
                        head, _, rest = pending.partition(b"\r\n\r\n")
                        size = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
                        if len(rest) < size:
                            break
                        self.requests.append(head.decode())
                        pending = rest[size:]
                        stream.sendall(ANSWER)

        def accept():
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()


def gateway_to(url, environment=None, **upstream):
    file = pathlib.Path(idem_test.scratch()) / "idem.yaml"
    file.write_text(json.dumps({"listen": {"threads": 1}, "cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": [{"url": url}], **upstream}]}))
    return idem_test.serve(config=str(file), env=environment)


def ask(gateway):
    body = {"model": "m", "messages": [{"role": "user", "content": f"question {next(COUNT)}"}]}
    return idem_test.request(gateway.url, "/v1/chat/completions", body=body)


def test_http_goes_to_the_proxy_as_a_whole_url():
    upstream = raw_upstream.RawUpstream(lambda request: (ANSWER, "keep"))
    proxy = Proxy(("127.0.0.1", int(upstream.url.rsplit(":", 1)[1])))
    gateway = gateway_to("http://model.internal:8000/base", proxy=f"http://user:canary%40@127.0.0.1:{proxy.port}")
    assert [ask(gateway).status for _ in range(3)] == [200] * 3
    assert len(proxy.heads) == 1, "the connection to the proxy is kept"
    line, *fields = proxy.heads[0].split("\r\n")
    assert line == "POST http://model.internal:8000/base/v1/chat/completions HTTP/1.1", line
    assert "Host: model.internal:8000" in fields and f"Proxy-Authorization: Basic {base64.b64encode(b'user:canary@').decode()}" in fields, fields
    assert b"canary" not in idem_test.admin(gateway, "/admin/v1/config").body
    assert "canary" not in gateway.output()


def test_https_goes_through_a_tunnel_and_is_verified_at_its_end():
    upstream = TlsUpstream()
    proxy = Proxy(upstream.address)
    gateway = gateway_to("https://model.internal", proxy=f"http://user:canary@127.0.0.1:{proxy.port}", tls={"ca": str(upstream.certificate)})
    assert [ask(gateway).status for _ in range(3)] == [200] * 3
    assert len(proxy.heads) == 1
    line, *fields = proxy.heads[0].split("\r\n")
    assert line == "CONNECT model.internal:443 HTTP/1.1" and any(f.startswith("Proxy-Authorization: Basic ") for f in fields), proxy.heads
    assert upstream.requests[0].startswith("POST /v1/chat/completions HTTP/1.1\r\nHost: model.internal\r\n"), upstream.requests[0]
    assert all("proxy-authorization" not in request.lower() for request in upstream.requests)
    gateway.stop()
    wrong = gateway_to("https://other.internal", proxy=f"http://127.0.0.1:{proxy.port}", tls={"ca": str(upstream.certificate)})
    answer = ask(wrong)
    assert answer.status == 502 and "other.internal:443" in answer.json()["error"]["message"], answer.body
    assert len(upstream.requests) == 3


def test_what_goes_wrong_at_the_proxy_has_a_name():
    upstream = TlsUpstream()
    for said, expected in ((b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "the proxy answered 407"),
                           (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "the proxy answered 502"),
                           (b"HTTP/1.1 200 OK\r\n\r\nmore", "the proxy sent more than its answer"),
                           (b"nonsense\r\n\r\n", "the proxy's answer is not valid HTTP"),
                           (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 20000, None)):
        proxy = Proxy(upstream.address, said)
        gateway = gateway_to("https://model.internal", proxy=f"http://user:canary@127.0.0.1:{proxy.port}", timeouts={"connect": "1s"})
        answer = ask(gateway)
        message = answer.json()["error"]["message"]
        assert answer.status == 502 and answer.json()["error"]["code"] == "upstream_connect" and (not expected or expected in message), answer.body
        assert "canary" not in message and f"through 127.0.0.1:{proxy.port}" in message, message
        gateway.stop()
    assert not upstream.requests
    silent = socket.create_server(("127.0.0.1", 0))
    gateway = gateway_to("https://model.internal", proxy=f"http://127.0.0.1:{silent.getsockname()[1]}", timeouts={"connect": "300ms"})
    answer = ask(gateway)
    assert (answer.status, answer.json()["error"]["code"]) == (504, "upstream_timeout"), answer.body
    gateway.stop()
    gateway = gateway_to("http://model.internal", proxy=f"http://127.0.0.1:{idem_test.free_port()}")
    assert ask(gateway).status == 502


def test_the_environment_counts_only_where_it_is_asked_for():
    direct = raw_upstream.RawUpstream(lambda request: (ANSWER, "keep"))
    proxy = Proxy(("127.0.0.1", int(direct.url.rsplit(":", 1)[1])))
    environment = {"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}", "HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}", "NO_PROXY": "excepted.internal"}
    unasked = gateway_to(direct.url, environment)
    assert ask(unasked).status == 200 and not proxy.heads
    asked = gateway_to("http://model.internal", environment, proxy="environment")
    assert ask(asked).status == 200 and len(proxy.heads) == 1
    excepted = gateway_to("http://excepted.internal", environment, proxy="environment", timeouts={"connect": "2s"})
    assert ask(excepted).status in (502, 504) and len(proxy.heads) == 1
    here = gateway_to(direct.url, environment, proxy="environment")
    assert ask(here).status == 200 and len(proxy.heads) == 1, "this machine is not behind a proxy"


idem_test.main(globals())
