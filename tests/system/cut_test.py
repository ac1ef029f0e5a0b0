"""An upstream answer that is cut, at any byte, is never stored and never ends cleanly for any client."""
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
import wire

OBJECT = json.dumps({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "h\u00e9llo"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}, ensure_ascii=False).encode()


def event(choices, **more):
    value = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}
    return "data: " + json.dumps(value, ensure_ascii=False) + "\n\n"


STREAM = [event([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]),
          event([{"index": 0, "delta": {"content": "h\u00e9llo"}, "finish_reason": None}]),
          event([{"index": 0, "delta": {}, "finish_reason": "stop"}]),
          event([], usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
          "data: [DONE]\n\n"]

MESSAGES = "/v1/messages"
MESSAGE = json.dumps({"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "h\u00e9llo"}],
                      "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}, ensure_ascii=False).encode()


def named_event(kind, **more):
    return f"event: {kind}\ndata: " + json.dumps({"type": kind, **more}, ensure_ascii=False) + "\n\n"


MESSAGE_STREAM = [named_event("message_start", message={**json.loads(MESSAGE), "content": [], "stop_reason": None}),
                  named_event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
                  named_event("content_block_delta", index=0, delta={"type": "text_delta", "text": "h\u00e9llo"}),
                  named_event("content_block_stop", index=0),
                  named_event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 1}),
                  named_event("message_stop")]


def sweep(whole, stream, end, path="/v1/chat/completions"):
    """The connection ends at every byte."""
    head = whole.index(b"\r\n\r\n") + 4
    positions = range(0, len(whole))
    if not idem_test.LONG:
        positions = [p for p in positions if p >= head or p % 7 == 0]
    sweep_positions(positions, lambda position: (whole[:position], end), stream, path)


def sweep_framed(body, stream, path="/v1/chat/completions", told=None):
    """A proxy on the way got a part of the answer and framed it well. From `told` on the stream has said all but its marker."""
    def answer(position):
        part = body[:position]
        return (raw_upstream.chunked([part] if part else []) if stream else raw_upstream.sized(part)), "keep"

    sweep_positions(range(0, len(body)), answer, stream, path, told)


def sweep_positions(positions, answer_cut_at, stream, path, told=None):
    """Every cut position is its own prompt, so that a stored answer would be found again."""
    upstream = raw_upstream.RawUpstream(lambda request: None)
    cut = {}

    def answer(request):
        body = json.loads(request.partition(b"\r\n\r\n")[2])
        return answer_cut_at(cut[body["messages"][0]["content"]])

    upstream.answer = answer
    gateway = idem_test.serve(upstream.url)
    problems = []

    def one(position):
        prompt = f"cut at {position}"
        cut[prompt] = position
        body = json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": prompt}]}).encode()
        for attempt in (1, 2):
            got = wire.post(gateway.url, path, body)
            if got.headers.get("x-cache") == "HIT":
                problems.append(f"{position}: attempt {attempt} was a HIT")
            if not got.clean and got.status == 200 and stream:
                continue
            if got.status in (502, 504) and got.clean:
                continue
            if told is not None and position >= told and got.clean:
                continue
            problems.append(f"{position}: status {got.status}, clean {got.clean}, {got.body[-80:]!r}")

    for begin in range(0, len(positions), 16):
        threads = [threading.Thread(target=one, args=(p,)) for p in list(positions)[begin:begin + 16]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    upstream.close()
    assert not problems, "\n".join(problems[:10])
    assert idem_test.metric(gateway, "idem_stored_total") == 0


def test_object_cut_by_fin():
    sweep(raw_upstream.sized(OBJECT), False, "fin")


def test_object_cut_by_rst():
    sweep(raw_upstream.sized(OBJECT), False, "rst")


def test_chunked_object_cut_by_fin():
    sweep(raw_upstream.chunked([OBJECT[:40], OBJECT[40:]], "application/json"), False, "fin")


def test_stream_cut_by_fin():
    sweep(raw_upstream.chunked(STREAM), True, "fin")


def test_stream_cut_by_rst():
    sweep(raw_upstream.chunked(STREAM), True, "rst")


def test_message_cut_by_fin():
    sweep(raw_upstream.sized(MESSAGE), False, "fin", MESSAGES)


def test_message_stream_cut_by_rst():
    sweep(raw_upstream.chunked(MESSAGE_STREAM), True, "rst", MESSAGES)


def test_object_that_is_framed_well_and_not_whole():
    sweep_framed(OBJECT, False)


def test_stream_that_is_framed_well_and_not_whole():
    whole = "".join(STREAM).encode()
    sweep_framed(whole, True, told=len("".join(STREAM[:3]).encode()))


def test_message_that_is_framed_well_and_not_whole():
    sweep_framed(MESSAGE, False, MESSAGES)


def test_message_stream_that_is_framed_well_and_not_whole():
    whole = "".join(MESSAGE_STREAM).encode()
    sweep_framed(whole, True, MESSAGES, told=len(whole) - 1)


def test_objects_that_may_not_be_stored_are_held_as_well():
    extras = {"vary": "Vary: *\r\n", "encoded": "Content-Encoding: gzip\r\n"}
    upstream = raw_upstream.RawUpstream(lambda request: None)
    gateway = idem_test.serve(upstream.url)
    for name, extra in extras.items():
        whole = raw_upstream.sized(OBJECT, extra=extra)
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": name}]}).encode()
        upstream.answer = lambda request, whole=whole: (whole[:-20], "fin")
        got = wire.post(gateway.url, "/v1/chat/completions", body)
        assert got.status == 502 and got.clean, (name, got.status, got.body)
        upstream.answer = lambda request, whole=whole: (whole, "keep")
        got = wire.post(gateway.url, "/v1/chat/completions", body)
        assert got.status == 200 and got.clean and got.body == OBJECT, (name, got.status, got.body)


def test_whole_messages_are_stored_and_broken_ones_end_in_their_own_event():
    upstream = raw_upstream.RawUpstream(lambda request: None)
    gateway = idem_test.serve(upstream.url)
    whole = raw_upstream.chunked(MESSAGE_STREAM)
    body = json.dumps({"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "x"}]}).encode()
    upstream.answer = lambda request: (whole[:-60], "fin")
    got = wire.post(gateway.url, MESSAGES, body)
    assert not got.clean
    last = got.body.decode().rstrip().rpartition("\n\n")[2]
    assert last.startswith("event: error\ndata: "), last
    error = json.loads(last.partition("data: ")[2])
    assert (error["type"], error["error"]["type"]) == ("error", "api_error"), error
    upstream.answer = lambda request: (whole, "keep")
    assert [wire.post(gateway.url, MESSAGES, body).headers["x-cache"] for _ in range(2)] == ["MISS", "HIT"]


def test_close_delimited_stream_is_relayed_but_never_stored():
    text = "".join(STREAM).encode()
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + text
    upstream = raw_upstream.RawUpstream(lambda request: (whole, "fin"))
    gateway = idem_test.serve(upstream.url)
    body = json.dumps({"model": "m", "stream": True, "stream_options": {"include_usage": True},
                       "messages": [{"role": "user", "content": "x"}]}).encode()
    for _ in range(2):
        got = wire.post(gateway.url, "/v1/chat/completions", body)
        assert got.clean and got.body == text, got.body
        assert got.headers["x-cache"] == "MISS"
    assert len(upstream.requests) == 2


def test_what_breaks_before_its_first_byte_is_a_502():
    heads = {"sse": b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
             "not what was asked": b"Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n",
             "sized": b"Content-Type: text/html\r\nContent-Length: 5\r\n\r\n"}
    upstream = raw_upstream.RawUpstream(lambda request: None)
    gateway = idem_test.serve(upstream.url)
    for name, head in heads.items():
        for stream in (True, False):
            upstream.answer = lambda request, head=head: (b"HTTP/1.1 200 OK\r\n" + head, "fin")
            body = json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": name}]}).encode()
            got = wire.post(gateway.url, "/v1/chat/completions", body)
            assert got.status == 502 and got.clean, (name, stream, got.status, got.body)
            assert json.loads(got.body)["error"]["code"] in ("framing_incomplete", "unexpected_content_type"), (name, got.body)


def test_the_error_event_is_no_part_of_the_event_that_was_cut():
    for cut in (b"da", b"data: {}", b"data: {}\n"):
        whole = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(cut), cut)
        upstream = raw_upstream.RawUpstream(lambda request, whole=whole: (whole, "fin"))
        gateway = idem_test.serve(upstream.url)
        body = json.dumps({"model": "m", "stream": True, "stream_options": {"include_usage": True},
                           "messages": [{"role": "user", "content": "x"}]}).encode()
        got = wire.post(gateway.url, "/v1/chat/completions", body)
        assert not got.clean
        assert b'\n\ndata: {"error":' in got.body, got.body


def test_followers_of_a_cut_stream_see_it_break_too():
    gate = threading.Event()
    text = raw_upstream.chunked(STREAM)

    def answer(request):
        gate.wait(10)
        return text[:len(text) // 2], "fin"

    upstream = raw_upstream.RawUpstream(answer)
    gateway = idem_test.serve(upstream.url)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}).encode()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(wire.post(gateway.url, "/v1/chat/completions", body)))
               for _ in range(20)]
    for thread in threads:
        thread.start()
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flight_followers") == 20, "20 followers")
    gate.set()
    for thread in threads:
        thread.join()
    assert len(upstream.requests) == 1, len(upstream.requests)
    assert all(not a.clean and a.status == 200 for a in answers)
    assert all(b'"error"' in a.body for a in answers)


idem_test.main(globals())
