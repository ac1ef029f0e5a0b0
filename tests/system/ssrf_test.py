"""No connection leaves for an address that is not configured, whatever a request or an answer says; and no way to spell a host or
a path makes the route another one than the caller was let in for."""
import hashlib
import json
import os
import pathlib
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

ANSWER = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]})
COUNT = iter(range(1 << 30))


class Canary:
    """A listener that nobody has any business with."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            self.connections += 1
            connection.close()


def bodies(canary):
    """Request bodies that name another upstream, as gateways have obeyed them before."""
    url, host = f"http://127.0.0.1:{canary.port}/v1", f"127.0.0.1:{canary.port}"
    yield from ({name: url} for name in ("api_base", "base_url", "baseURL", "api_url", "endpoint", "azure_endpoint", "proxy", "callback_url", "webhook",
                                         "host", "upstream", "custom_llm_provider"))
    yield {"user_config": {"model_list": [{"model_name": "m", "litellm_params": {"model": "m", "api_base": url, "api_key": "x"}}]}}
    yield {"litellm_params": {"api_base": url}}
    yield {"metadata": {"api_base": url, "base_url": url}}
    yield {"extra_body": {"api_base": url}}
    yield {"extra_headers": {"Host": host, "X-Forwarded-Host": host}}
    yield {"fallbacks": [{"model": "m", "api_base": url}]}
    yield {"model": url}
    yield {"model": f"openai/m@{url}"}
    yield {"model": f"m#{url}"}
    yield {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}


def headers(canary):
    """Fields that name another upstream, or another host that the request were for."""
    url, host = f"http://127.0.0.1:{canary.port}", f"127.0.0.1:{canary.port}"
    yield from ([f"Host: {host}", extra] for extra in (
        f"X-Forwarded-Host: {host}", f"Forwarded: host={host};proto=http", f"X-Host: {host}", f"X-Original-URL: {url}/v1/chat/completions",
        f"X-Rewrite-URL: {url}/", f"X-Upstream: {url}", f"X-LLM-Base-URL: {url}", f"x-portkey-custom-host: {url}", f"helicone-target-url: {url}",
        f"helicone-openai-api-base: {url}", f"x-litellm-api-base: {url}", f"cf-aig-custom-url: {url}", f"X-Forwarded-For: {host}", f"Referer: {url}",
        f"Origin: {url}", f"Via: 1.1 {host}", f"Idem-Upstream: {url}", f"Destination: {url}", f"Proxy: {url}", f"X-Real-IP: {host}"))


def raw(gateway, target, fields=("Host: h",), body=None, method="POST"):
    """One call as exact bytes; (status, body), or (0, b"") if the connection was closed without an answer."""
    body = json.dumps(body if body is not None else {"model": "m", "messages": [{"role": "user", "content": f"q {next(COUNT)}"}]}).encode()
    lines = [f"{method} {target} HTTP/1.1", *fields, "Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close"]
    with wire.connect(gateway.url, 10) as client:
        client.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        received = b""
        while data := client.recv(65536):
            received += data
    if not received:
        return 0, b""
    head, _, rest = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest


def test_no_request_names_its_upstream():
    canary = Canary()
    upstream = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(ANSWER), "keep"))
    gateway = idem_test.serve(upstream.url)
    own = f"Host: {upstream.url.removeprefix('http://')}".encode()
    for extra in bodies(canary):
        body = {"model": "m", "messages": [{"role": "user", "content": f"q {next(COUNT)}"}], **extra}
        asked = len(upstream.requests)
        assert raw(gateway, "/v1/chat/completions", body=body)[0] == 200, extra
        assert len(upstream.requests) == asked + 1, extra
    for fields in headers(canary):
        asked = len(upstream.requests)
        status, _ = raw(gateway, "/v1/chat/completions", fields)
        assert status == 200 and len(upstream.requests) == asked + 1, (fields, status)
        sent = upstream.requests[-1].partition(b"\r\n\r\n")[0].split(b"\r\n")
        assert [line for line in sent if line.lower().startswith(b"host:")] == [own], sent
    assert canary.connections == 0, canary.connections


def test_no_target_names_its_upstream():
    canary = Canary()
    upstream = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(ANSWER), "keep"))
    gateway = idem_test.serve(upstream.url)
    host = f"127.0.0.1:{canary.port}"
    for method, target in (("POST", f"http://{host}/v1/chat/completions"), ("GET", f"http://{host}/"), ("GET", f"https://{host}/v1/models"),
                           ("POST", f"http://h@{host}/v1/chat/completions"), ("POST", f"//{host}/v1/chat/completions"),
                           ("POST", f"/http://{host}/v1/chat/completions"), ("POST", f"/v1/chat/completions@{host}"), ("POST", f"@{host}/v1/chat/completions"),
                           ("POST", f":80@{host}/"), ("POST", f"/v1/../../@{host}/"), ("CONNECT", host), ("CONNECT", f"http://{host}/"),
                           ("GET", f"ftp://{host}/"), ("GET", "file:///etc/passwd"), ("OPTIONS", "*"), ("GET", f"\\\\{host}\\x"), ("GET", f"/\\{host}/x"),
                           ("POST", f"/v1/chat/completions?api_base=http://{host}&base_url=http://{host}"), ("GET", f"/v1/models/http:%2f%2f{host}"),
                           ("GET", "unix:/run/docker.sock")):
        asked = len(upstream.requests)
        raw(gateway, target, method=method)
        for request in upstream.requests[asked:]:
            line = request.split(b"\r\n")[0].decode("latin-1")
            assert line.split(" ")[1].startswith("/") or line.split(" ")[1] == "*", line
    assert canary.connections == 0, canary.connections
    assert raw(gateway, "/v1/chat/completions")[0] == 200, "it still serves"


def test_no_answer_sends_it_elsewhere():
    canary = Canary()
    elsewhere = f"http://127.0.0.1:{canary.port}/v1/chat/completions"
    for status in ("301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect", "305 Use Proxy",
                   "300 Multiple Choices", "401 Unauthorized", "503 Service Unavailable", "200 OK"):
        fields = f"Location: {elsewhere}\r\nContent-Location: {elsewhere}\r\nRefresh: 0; url={elsewhere}\r\nAlt-Svc: h2=\"127.0.0.1:{canary.port}\"\r\n" \
                 f"Link: <{elsewhere}>; rel=preload\r\n"
        upstream = raw_upstream.RawUpstream(lambda request, s=status, f=fields: (raw_upstream.sized("{}", status=s, extra=f), "keep"))
        gateway = idem_test.serve(upstream.url)
        for path, body in (("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "x"}]}), ("/v1/models", None)):
            answer = idem_test.request(gateway.url, path, body=body)
            assert answer.status == int(status[:3]), (status, answer.status)
            if status.startswith("3"):
                assert answer["location"] == elsewhere, "the client's to follow"
        gateway.stop()
        upstream.close()
    assert canary.connections == 0, canary.connections


# The last path segments are what routes and the list of callers are told apart by.
VARIANTS = ["/v1/chat/completions", "//v1/chat/completions", "/v1//chat/completions", "/v1/chat//completions", "/./v1/chat/completions",
            "/v1/./chat/completions", "/v1/chat/./completions", "/v1/chat/completions/.", "/v1/chat/completions/", "/v1/../v1/chat/completions",
            "/v1/chat/../chat/completions", "/x/../v1/chat/completions", "/open/../v1/chat/completions", "/v1/chat/completions/..", "/v1/chat/completions/../..",
            "/%76%31/chat/completions", "/v1/chat/%63ompletions", "/v1%2fchat%2fcompletions", "/v1/chat%2Fcompletions", "/v1/%2e/chat/completions",
            "/%2e%2e/v1/chat/completions", "/open/%2e%2e/v1/chat/completions", "/open/..%2fv1/chat/completions", "/open/%2e%2e%2fv1%2fchat%2fcompletions",
            "/v1/chat/completions;x=y", "/v1;x/chat/completions", "/open;/../v1/chat/completions", "/open/..;/v1/chat/completions", "/v1/chat/completions?",
            "/v1/chat/completions?x=/open/", "/v1/chat/completions??", "/v1/chat/completions#", "/v1/chat/completions#/open/", "/open/#/v1/chat/completions",
            "/open/?/v1/chat/completions", "/open/%00/v1/chat/completions", "/v1/chat/completions%00", "/v1/chat/completions%20", "/v1/chat/completions%0d%0a",
            "/V1/chat/completions", "/v1/Chat/Completions", "/v1/chat\\completions", "/open\\..\\v1\\chat\\completions", "/open/%5c..%5cv1/chat/completions",
            "/v1/chat/completions%2f", "/v1/chat/completions%252f", "/%252e%252e/v1/chat/completions", "/v1/chat/comple%74ions", "/open", "/open/",
            "/open/models", "/openv1/chat/completions", "*", "v1/chat/completions", "", "/"]
# What a Host may be made to say so that whoever puts a URL together reads another path.
HOSTS = ["h", "h:80", "x/?", "x/#", "x/", "h/open/", "h/open/?", "h/open/#", "h?x", "h#x", "h@x", "h:80@x", "h\\x", "h x", "h,x", "[::1]", "[::1", "h:notaport",
         "h:99999", "", "%68", "h%00", "h%2fopen", "..", "h\u00e9"]


def routed():
    """A gateway that lets named callers in, before two upstreams: `open` for /open/*, `closed` for the rest."""
    folder = pathlib.Path(idem_test.scratch())
    (folder / "clients").write_text(f"alice {hashlib.sha256(b'alice-key').hexdigest()}\n")
    upstreams = {name: raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(ANSWER), "keep")) for name in ("open", "closed")}
    (folder / "idem.yaml").write_text(json.dumps({
        "listen": {"clients": str(folder / "clients")}, "cache": {"store": "memory"},
        "upstreams": [{"name": name, "replicas": [{"url": upstream.url}]} for name, upstream in upstreams.items()],
        "routes": [{"match": {"path": "/open/*"}, "upstream": "open", "policy": "bypass"}, {"upstream": "closed"}]}))
    return idem_test.serve(config=str(folder / "idem.yaml")), upstreams


def test_a_way_to_write_a_path_lets_nobody_in_and_changes_no_route():
    gateway, upstreams = routed()
    known = "Authorization: Bearer alice-key"
    for target in VARIANTS:
        status, _ = raw(gateway, target, ["Host: h"])
        assert status in (400, 401, 404), (target, status)
        assert not any(upstream.requests for upstream in upstreams.values()), target
    for target in VARIANTS:
        before = {name: len(upstream.requests) for name, upstream in upstreams.items()}
        status, _ = raw(gateway, target, ["Host: h", known])
        reached = [name for name, upstream in upstreams.items() if len(upstream.requests) > before[name]]
        # The route goes by the path as it was sent, and what was sent is what arrives.
        expected = ["open"] if target.startswith("/open/") else ["closed"]
        assert reached in ([], expected) and (status == 200) == (reached == expected), (target, status, reached)
        if reached:
            assert upstreams[reached[0]].requests[-1].split(b" ")[1].decode("latin-1") == target, target
    assert raw(gateway, "/v1/chat/completions", ["Host: h", known])[0] == 200


def test_no_host_lets_anybody_in_or_changes_the_route():
    gateway, upstreams = routed()
    known = "Authorization: Bearer alice-key"
    for host in HOSTS:
        status, _ = raw(gateway, "/v1/chat/completions", [f"Host: {host}"])
        assert status in (400, 401), (host, status)
        status, _ = raw(gateway, "/v1/chat/completions", [f"Host: {host}", known])
        assert status in (200, 400), (host, status)
        assert status == 400 or not set("/?#@\\ ") & set(host), (host, status)
    for fields in (["Host: h", "Host: h"], ["Host: h", "Host: x/open/"], []):
        assert raw(gateway, "/v1/chat/completions", [*fields, known])[0] == 400, fields
    assert not upstreams["open"].requests and upstreams["closed"].requests
    own = upstreams["closed"].url.removeprefix("http://").encode()
    for request in upstreams["closed"].requests:
        assert b"Host: " + own + b"\r\n" in request, request


idem_test.main(globals())
