"""Replicas that die, flap, refuse, dawdle and swallow packets: requests move to the other one, within bounds."""
import contextlib
import http.client
import json
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream

ANSWER = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]})
COUNT = iter(range(1 << 30))


def gateway_to(*urls, **upstream):
    """A gateway before replicas a, b, … of one upstream."""
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    replicas = [{"id": "abcdef"[i], "url": url} for i, url in enumerate(urls)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": replicas, **upstream}]}, file)
    return idem_test.serve(config=path)


def body(text=None, **more):
    return {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": text or f"question {next(COUNT)}"}], **more}


def ask(gateway, text=None, path="/v1/chat/completions", **more):
    began = time.monotonic()
    answer = idem_test.request(gateway.url, path, body=body(text, **more))
    answer.took = time.monotonic() - began
    return answer


def good():
    return raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(ANSWER), "keep"))


def code(answer):
    return answer.json()["error"]["code"]


def retries(gateway):
    """What the access log says, line by line; a line follows its answer, so it is waited for."""
    lines = [json.loads(line) for line in gateway.output().splitlines() if line.startswith('{"') and line.endswith("}")]
    return sum(line.get("upstream", {}).get("retries", 0) for line in lines)


def test_a_killed_replica_is_left_at_once_and_found_again():
    a, b = idem_test.simulate(), idem_test.simulate()
    gateway = gateway_to(a.url, b.url)
    assert {ask(gateway)["idem-replica"] for _ in range(40)} == {"a", "b"}
    a.kill()
    answers = [ask(gateway) for _ in range(60)]
    assert [x.status for x in answers] == [200] * 60
    assert {x["idem-replica"] for x in answers} == {"b"}
    assert max(x.took for x in answers) < 1, max(x.took for x in answers)
    assert b.stats()["calls"] >= 60
    # Ejected after three refusals, so that most requests did not even try.
    idem_test.wait_until(lambda: retries(gateway), "the log tells of retries")
    assert retries(gateway) <= 8, retries(gateway)
    again = idem_test.Process([idem_test.BINARY, "simulate", "--listen", a.url.removeprefix("http://")])
    idem_test.wait_until(lambda: ask(gateway)["idem-replica"] == "a", "the replica is used again", 30)
    again.kill()


def test_a_flapping_replica_costs_no_answer_beyond_the_budget():
    a, b = idem_test.simulate(), idem_test.simulate()
    gateway = gateway_to(a.url, b.url)
    answers, done = [], threading.Event()

    def client():
        while not done.is_set():
            answers.append(ask(gateway))

    threads = [threading.Thread(target=client) for _ in range(3)]
    for thread in threads:
        thread.start()
    process = a
    for _ in range(3):
        at = len(answers)
        idem_test.wait_until(lambda at=at: any(x["idem-replica"] == "a" for x in answers[at:]), "it is used", 30)
        process.kill()
        at = len(answers)
        idem_test.wait_until(lambda at=at: len(answers) > at + 20, "calls are made without it", 30)
        process = idem_test.Process([idem_test.BINARY, "simulate", "--listen", a.url.removeprefix("http://")])
        idem_test.wait_until(lambda: idem_test.listening(a.ports[0]), "it is back")
    done.set()
    for thread in threads:
        thread.join(60)
    bad = [x for x in answers if x.status != 200]
    # Only what had begun when it was killed may have been lost: the head of the answer was on its way.
    assert all(x.status == 502 for x in bad) and len(bad) <= 3 * 3, [(x.status, x.body) for x in bad]
    assert max(x.took for x in answers) < 5
    assert retries(gateway) <= len(answers) * 0.2 + 10, (retries(gateway), len(answers))


def test_503_half_the_time_is_asked_again_elsewhere_within_the_budget():
    calls = {"a": 0, "b": 0}

    def a(request):
        calls["a"] += 1
        if calls["a"] % 2:
            return raw_upstream.sized('{"error":{"message":"busy"}}', status="503 Service Unavailable"), "keep"
        return raw_upstream.sized(ANSWER), "keep"

    def b(request):
        calls["b"] += 1
        return raw_upstream.sized(ANSWER), "keep"

    one, other = raw_upstream.RawUpstream(a), raw_upstream.RawUpstream(b)
    gateway = gateway_to(one.url, other.url)
    answers = [ask(gateway) for _ in range(200)]
    statuses = [x.status for x in answers]
    assert set(statuses) <= {200, 503} and statuses.count(200) >= 190, statuses
    assert sum(calls.values()) <= 200 * 1.2 + 10, calls
    assert sum(calls.values()) > 200, calls
    idem_test.wait_until(lambda: retries(gateway) == sum(calls.values()) - 200, "the log tells each retry")


def test_when_all_say_503_the_last_answer_is_passed_on():
    def busy(request):
        return raw_upstream.sized('{"error":{"message":"busy"}}', status="503 Service Unavailable", extra="Retry-After: 7\r\n"), "keep"

    one, other = raw_upstream.RawUpstream(busy), raw_upstream.RawUpstream(busy)
    gateway = gateway_to(one.url, other.url)
    answer = ask(gateway)
    assert (answer.status, answer.body, answer["retry-after"]) == (503, b'{"error":{"message":"busy"}}', "7")
    assert len(one.requests) == len(other.requests) == 1
    stream = ask(gateway, stream=True)
    assert (stream.status, stream["retry-after"]) == (503, "7")


def test_a_replica_that_says_when_to_come_back_is_left_alone_until_then():
    busy = threading.Event()
    busy.set()

    def a(request):
        if busy.is_set():
            return raw_upstream.sized("{}", status="503 Service Unavailable", extra="Retry-After: 2\r\n"), "keep"
        return raw_upstream.sized(ANSWER), "keep"

    one, other = raw_upstream.RawUpstream(a), good()
    gateway = gateway_to(one.url, other.url)
    idem_test.wait_until(lambda: ask(gateway).status == 200 and one.requests, "it is asked")
    asked, told = len(one.requests), time.monotonic()
    while time.monotonic() - told < 1:
        assert ask(gateway)["idem-replica"] == "b"
    assert len(one.requests) == asked
    busy.clear()
    idem_test.wait_until(lambda: ask(gateway)["idem-replica"] == "a", "it is asked again", 20)
    assert time.monotonic() - told > 1.5


def test_429_and_500_are_answers():
    for status in ("429 Too Many Requests", "500 Internal Server Error", "504 Gateway Timeout"):
        one = raw_upstream.RawUpstream(lambda request, s=status: (raw_upstream.sized('{"error":{}}', status=s, extra="Retry-After: 9\r\n"), "keep"))
        other = raw_upstream.RawUpstream(lambda request, s=status: (raw_upstream.sized('{"error":{}}', status=s, extra="Retry-After: 9\r\n"), "keep"))
        gateway = gateway_to(one.url, other.url)
        answer = ask(gateway)
        assert f"{answer.status} " == status[:4] and answer["retry-after"] == "9", answer.status
        assert len(one.requests) + len(other.requests) == 1, status
        gateway.stop()


def test_calls_that_may_do_harm_twice_are_not_asked_again_once_they_were_sent():
    def busy(request):
        return raw_upstream.sized("{}", status="503 Service Unavailable"), "keep"

    one, other = raw_upstream.RawUpstream(busy), raw_upstream.RawUpstream(busy)
    gateway = gateway_to(one.url, other.url)
    assert idem_test.request(gateway.url, "/v1/unknown", body={}).status == 503
    assert len(one.requests) + len(other.requests) == 1
    assert idem_test.request(gateway.url, "/v1/unknown").status == 503
    assert len(one.requests) + len(other.requests) == 3  # a safe method is
    gateway.stop()

    dead, other = f"http://127.0.0.1:{idem_test.free_port()}", good()
    gateway = gateway_to(dead, other.url)
    for i in range(8):  # nothing was sent to the dead one
        assert idem_test.request(gateway.url, f"/v1/unknown/{i}", body={}).status == 200
    assert len(other.requests) == 8


def test_an_answer_that_breaks_after_its_first_byte_is_not_asked_for_again():
    whole = raw_upstream.chunked(['data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
                                  '[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'])
    cut = raw_upstream.RawUpstream(lambda request: (whole[:-5], "rst"))
    other = good()
    gateway = gateway_to(cut.url, other.url)
    for _ in range(20):
        with contextlib.suppress(OSError, http.client.HTTPException):
            assert ask(gateway, stream=True).status == 200
    assert cut.requests and len(cut.requests) + len(other.requests) == 20


def test_a_connection_lost_before_the_head_is_asked_for_again():
    lost = raw_upstream.RawUpstream(lambda request: (b"", "rst"))
    other = good()
    gateway = gateway_to(lost.url, other.url)
    answers = [ask(gateway) for _ in range(12)]
    assert [x.status for x in answers] == [200] * 12
    assert lost.requests and len(other.requests) == 12


def test_slow_to_the_first_byte_fails_by_name_and_is_left():
    slow = raw_upstream.RawUpstream(lambda request: (time.sleep(3), (raw_upstream.sized(ANSWER), "keep"))[1])
    other = good()
    gateway = gateway_to(slow.url, other.url, timeouts={"first_byte": "300ms"})
    failed = 0
    for _ in range(200):
        answer = ask(gateway)
        if answer.status == 200:
            assert answer["idem-replica"] == "b" and answer.took < 1
            if failed == 1:
                break
            continue
        # It may still be computing: to ask another one would pay twice.
        assert (answer.status, code(answer)) == (504, "upstream_timeout"), answer.body
        assert "first-byte deadline" in answer.json()["error"]["message"], answer.body
        assert 0.25 < answer.took < 2, answer.took
        failed += 1
    assert failed == 1 and len(slow.requests) == 1, (failed, len(slow.requests))
    for _ in range(20):
        assert ask(gateway)["idem-replica"] == "b"


def black_hole():
    """A port where connections are never accepted and further ones never established: the queue is full."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    held = []
    while len(held) < 16:
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
        held.append(one)
    return listener, held


def test_a_replica_that_swallows_packets_costs_the_connect_deadline_and_is_left():
    listener, held = black_hole()
    other = good()
    gateway = gateway_to(f"http://127.0.0.1:{listener.getsockname()[1]}", other.url, timeouts={"connect": "300ms"})
    answers = [ask(gateway) for _ in range(40)]
    assert [x.status for x in answers] == [200] * 40
    slow = [x.took for x in answers if x.took > 0.25]
    assert len(slow) == 3 and max(slow) < 1.3, slow  # three failures in a row eject
    for one in held:
        one.close()
    listener.close()


def test_a_listener_that_never_answers_is_a_slow_one():
    silent = socket.create_server(("127.0.0.1", 0), backlog=64)
    other = good()
    gateway = gateway_to(f"http://127.0.0.1:{silent.getsockname()[1]}", other.url, timeouts={"first_byte": "300ms"})
    statuses = [ask(gateway).status for _ in range(60)]
    # The deadline that passed ejects it: for two seconds, then for four.
    assert 1 <= statuses.count(504) <= 3 and statuses.count(200) == 60 - statuses.count(504), statuses
    silent.close()


def test_a_lone_replica_is_always_tried():
    url = f"http://127.0.0.1:{idem_test.free_port()}"
    gateway = gateway_to(url)
    for _ in range(20):
        answer = ask(gateway)
        assert (answer.status, code(answer)) == (502, "upstream_connect"), answer.body
    process = idem_test.Process([idem_test.BINARY, "simulate", "--listen", url.removeprefix("http://")])
    idem_test.wait_until(lambda: idem_test.listening(int(url.rsplit(":", 1)[1])), "it is there")
    assert ask(gateway).status == 200
    process.kill()


def test_weights_are_shares_and_0_takes_nothing():
    urls = [good() for _ in range(3)]
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": [
            {"id": "light", "url": urls[0].url}, {"id": "heavy", "url": urls[1].url, "weight": 9},
            {"id": "off", "url": urls[2].url, "weight": 0}]}]}, file)
    gateway = idem_test.serve(config=path)
    for _ in range(100):
        assert ask(gateway).status == 200
    light, heavy, off = (len(u.requests) for u in urls)
    assert off == 0 and light + heavy == 100 and 0 < light < 30, (light, heavy, off)
    urls[1].close()


idem_test.main(globals())
