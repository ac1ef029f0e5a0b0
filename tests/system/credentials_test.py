"""The gateway's own credential for an upstream: which field it is in, that it is read again, and that no client's goes with it."""
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

ANSWER = raw_upstream.sized(json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}))
CLIENTS = {"Authorization": "Bearer client-canary", "x-api-key": "client-canary", "api-key": "client-canary", "x-goog-api-key": "client-canary"}
COUNT = iter(range(1 << 30))


def gateway_with(credentials):
    upstream = raw_upstream.RawUpstream(lambda request: (ANSWER, "keep"))
    file = pathlib.Path(idem_test.scratch()) / "idem.yaml"
    file.write_text(json.dumps({"cache": {"store": "memory"}, "upstreams": [
        {"name": "up", "replicas": [{"url": upstream.url}], "credentials": credentials}]}))
    return idem_test.serve(config=str(file)), upstream


def sent(gateway, upstream, path="/v1/chat/completions", body=True):
    """The request line and the credential fields of what the upstream gets for one more call."""
    call = {"model": "m", "messages": [{"role": "user", "content": f"question {next(COUNT)}"}]} if body else None
    assert idem_test.request(gateway.url, path, body=call, headers=CLIENTS).status == 200
    line, *fields = upstream.requests[-1].partition(b"\r\n\r\n")[0].decode().split("\r\n")
    named = dict(field.split(": ", 1) for field in fields)
    return line, {name.lower(): value for name, value in named.items() if name.lower() in {n.lower() for n in CLIENTS} | {"x-own"}}


def test_passed_through():
    gateway, upstream = gateway_with("passthrough")
    line, fields = sent(gateway, upstream, "/v1/chat/completions?key=client-canary")
    assert "key=client-canary" in line and fields == {name.lower(): value for name, value in CLIENTS.items()}, (line, fields)


def test_a_field_of_the_gateways_own_replaces_all_of_the_clients():
    for credentials, expected in (({"bearer": "own"}, {"authorization": "Bearer own"}),
                                  ({"header": "x-api-key", "value": "own"}, {"x-api-key": "own"}),
                                  ({"header": "x-own", "value": "own"}, {"x-own": "own"})):
        gateway, upstream = gateway_with(credentials)
        for path, body, kept in (("/v1/chat/completions", True, "/v1/chat/completions"),
                                 ("/v1beta/models?pageSize=5&key=client-canary&k%65y=client-canary", False, "/v1beta/models?pageSize=5"),
                                 ("/v1/files?api_key=client-canary", False, "/v1/files")):
            line, fields = sent(gateway, upstream, path, body)
            assert fields == expected and line.split()[1] == kept, (line, fields)
        assert all(b"client-canary" not in request for request in upstream.requests)
        gateway.stop()


def test_a_file_is_read_again_when_it_changes():
    for key, prefix in (("bearer_file", "Bearer "), ("value_file", "")):
        token = pathlib.Path(idem_test.scratch()) / "token"
        token.write_text("first\n")
        extra = {"header": "authorization"} if key == "value_file" else {}
        gateway, upstream = gateway_with({key: str(token), **extra})
        assert sent(gateway, upstream)[1] == {"authorization": prefix + "first"}
        other = token.with_name("other")
        other.write_text("second\n")
        other.rename(token)  # as a mounted secret is replaced
        idem_test.wait_until(lambda g=gateway, u=upstream, p=prefix: sent(g, u)[1] == {"authorization": p + "second"}, "the new token", every=0.1)
        token.unlink()
        assert sent(gateway, upstream)[1] == {"authorization": prefix + "second"}
        assert "first" not in gateway.output() and "second" not in gateway.output()
        effective = idem_test.admin(gateway, "/admin/v1/config")
        assert b"second" not in effective.body
        gateway.stop()


idem_test.main(globals())
