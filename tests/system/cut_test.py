#!/usr/bin/env python3
"""An upstream that dies at any byte of its answer: nothing is stored, and no client sees a clean end."""
import http.client
import socket

import idem_test
import upstream

OBJECT = upstream.chat_object()
STREAM = b"".join(upstream.chunked(upstream.chat_events()))


def cutting(call):
    """Sends the first N bytes of an answer, N given by the model's name (object-N, stream-N), then closes the connection."""
    kind, _, bytes_to_send = call.json()["model"].partition("-")
    whole = OBJECT if kind == "object" else STREAM
    yield whole[:int(bytes_to_send)]
    yield None


def ask(gateway, model, stream):
    """(status, X-Cache, body, clean): clean says that the answer's framing ended as HTTP wants it."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.ports[0], timeout=20)
    try:
        body = {"model": model, "messages": [{"role": "user", "content": "x"}]} | ({"stream": True} if stream else {})
        connection.request("POST", "/v1/chat/completions", idem_test.json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        try:
            return answer.status, answer.headers["X-Cache"], answer.read(), True
        except (http.client.IncompleteRead, ConnectionError, socket.timeout) as error:
            return answer.status, answer.headers["X-Cache"], getattr(error, "partial", b""), False
    finally:
        connection.close()


def test_an_object_cut_at_every_byte_is_a_502_and_never_stored():
    server = upstream.Upstream(cutting)
    gateway = idem_test.serve(server.url)
    for length in range(len(OBJECT)):
        status, _, body, clean = ask(gateway, f"object-{length}", stream=False)
        assert status == 502 and clean, (length, status, clean, body)
        assert b'"error"' in body, (length, body)
    # A second look at some of them: still no hit, since nothing was stored.
    for length in (1, len(OBJECT) // 2, len(OBJECT) - 1):
        status, cache, _, _ = ask(gateway, f"object-{length}", stream=False)
        assert status == 502 and cache != "HIT", (length, status, cache)
    status, cache, body, clean = ask(gateway, f"object-{len(OBJECT)}", stream=False)
    assert status == 200 and clean and OBJECT.endswith(body), (status, cache, body)


def test_a_stream_cut_at_every_byte_never_ends_cleanly_and_is_never_stored():
    server = upstream.Upstream(cutting)
    gateway = idem_test.serve(server.url)
    for length in range(len(STREAM)):
        status, _, body, clean = ask(gateway, f"stream-{length}", stream=True)
        # Before the first byte of the body an error keeps its status; after it the connection breaks.
        assert status == 502 or not clean, (length, status, clean, body)
        calls = len(server.calls)
        _, cache, _, _ = ask(gateway, f"stream-{length}", stream=True) if length % 40 == 0 else (0, "MISS", b"", False)
        assert cache != "HIT", length
        assert length % 40 != 0 or len(server.calls) > calls, f"cut at {length}: the answer came from somewhere else"
    status, _, body, clean = ask(gateway, f"stream-{len(STREAM)}", stream=True)
    assert status == 200 and clean and body.endswith(b"data: [DONE]\n\n"), (status, clean, body)


idem_test.main(globals())
