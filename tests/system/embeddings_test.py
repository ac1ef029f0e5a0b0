#!/usr/bin/env python3
"""Embeddings: one answer has both encodings, and a batch is kept input by input where the policy says so."""
import base64
import gzip
import json
import os
import pathlib
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import field
import idem_test
import raw_upstream

PATH = "/v1/embeddings"
BATCH = """\
cache: {{{cache}}}
upstreams: [{{name: default, replicas: [{{id: a, url: "{url}"}}]}}]
policies: {{each: {{items: batch}}}}
routes: [{{upstream: default, policy: each}}]
"""


def single_of(text):
    """A vector that follows from the text: singles, one of which has no short decimals."""
    return struct.unpack("<3f", struct.pack("<3f", len(text), sum(text.encode()) / 7, 0.1))


class Upstream:
    """Embeds what it is asked for; counts its calls and the inputs of each. `spoil` changes the answer before it goes out."""

    def __init__(self):
        self.inputs, self.spoil, self.hold, self.status = [], None, None, None
        self.server = raw_upstream.RawUpstream(self.answer)

    def answer(self, request):
        if self.hold:
            self.hold.wait(20)
        head, _, text = request.partition(b"\r\n\r\n")
        body = json.loads(gzip.decompress(text) if b"gzip" in head.lower() else text)
        given = body["input"]
        texts = given if isinstance(given, list) and not isinstance(given[0], int) else [given]
        self.inputs.append(texts)
        if self.status:
            return raw_upstream.sized('{"error":{"message":"no","type":"t","param":null,"code":"c"}}', status=self.status,
                                      extra="x-ratelimit-remaining: 7\r\n"), "keep"
        data = []
        for i, text in enumerate(texts):
            vector = single_of(str(text))
            if body.get("encoding_format") == "base64":
                vector = base64.b64encode(struct.pack("<3f", *vector)).decode()
            data.append({"object": "embedding", "index": i, "embedding": vector})
        whole = {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 2 * len(texts), "total_tokens": 2 * len(texts)}}
        if self.spoil:
            whole = self.spoil(whole)
        return raw_upstream.sized(json.dumps(whole)), "keep"


def batching(upstream, cache="store: memory"):
    data = idem_test.scratch("data-")
    file = pathlib.Path(data) / "idem.yaml"
    file.write_text(BATCH.format(url=upstream.server.url, cache=cache))
    return idem_test.serve(config=file, data=data)


def ask(gateway, given, headers=None, status=200, **more):
    answer = idem_test.request(gateway.url, PATH, body={"model": "m", "input": given, **more}, headers=headers)
    assert answer.status == status, (answer.status, answer.body)
    return answer


def vectors(answer):
    out = []
    for place, item in enumerate(answer.json()["data"]):
        assert item["index"] == place, answer.body
        vector = item["embedding"]
        if isinstance(vector, str):
            vector = struct.unpack(f"<{len(base64.b64decode(vector)) // 4}f", base64.b64decode(vector))
        out.append(struct.pack(f"<{len(vector)}f", *vector))
    return out


def expected(texts):
    return [struct.pack("<3f", *single_of(str(text))) for text in texts]


def outcome(answer):
    return answer["X-Cache"]


def test_one_answer_has_both_encodings():
    for store in ("memory", "embedded"):
        for first, second in (("float", "base64"), ("base64", "float")):
            upstream = Upstream()
            gateway = idem_test.serve(upstream.server.url, *(("--set", "cache.memory=0") if store == "embedded" else ()), store=store)
            one = ask(gateway, ["a", "bc"], encoding_format=first)
            other = ask(gateway, ["a", "bc"], encoding_format=second)
            assert (outcome(one), outcome(other)) == ("MISS", "HIT"), (store, first, outcome(one), outcome(other))
            assert vectors(one) == vectors(other) == expected(["a", "bc"])
            kind = {"float": list, "base64": str}
            for answer, form in ((one, first), (other, second)):
                assert all(isinstance(item["embedding"], kind[form]) for item in answer.json()["data"]), answer.body
                assert answer["Content-Type"] == "application/json"
                again = ask(gateway, ["a", "bc"], encoding_format=form)
                assert outcome(again) == "HIT" and again.body == answer.body
            assert one["Idem-Digest"] == other["Idem-Digest"] and one["Idem-Request"] == other["Idem-Request"]
            assert ask(gateway, ["a", "bc"]).json()["data"] == (one if first == "float" else other).json()["data"]
            assert len(upstream.inputs) == 1
            gateway.stop()


def test_an_encoding_that_is_more_than_a_form_is_another_request():
    upstream = Upstream()
    gateway = idem_test.serve(upstream.server.url)
    for more in ({}, {"encoding_format": "int8"}, {"encoding_format": "ubinary"}, {"encoding_format": "base64", "output_dtype": "int8"},
                 {"encoding_format": "float", "output_dtype": "int8"}, {"output_dtype": "int8"}):
        assert outcome(ask(gateway, "a", **more)) == "MISS", more
        assert outcome(ask(gateway, "a", **more)) == "HIT", more


def test_numbers_that_are_no_singles_are_not_rounded():
    upstream = Upstream()

    def doubles(whole):
        for item in whole["data"]:
            if isinstance(item["embedding"], tuple):
                item["embedding"] = [0.12345678901234, 1.5]
            else:
                item["embedding"] = base64.b64encode(struct.pack("<2f", 0.12345678901234, 1.5)).decode()
        return whole

    upstream.spoil = doubles
    gateway = idem_test.serve(upstream.server.url)
    one = ask(gateway, "a", encoding_format="float")
    assert [outcome(ask(gateway, "a", encoding_format="base64")) for _ in range(2)] == ["MISS", "HIT"]
    assert ask(gateway, "a").body == one.body and b"0.12345678901234" in one.body
    assert len(upstream.inputs) == 2


def test_a_server_that_knows_no_base64_is_passed_on_as_it_is():
    upstream = Upstream()

    def floats(whole):
        whole["data"][0]["embedding"] = [1.0, 2.5]
        return whole

    upstream.spoil = floats
    gateway = idem_test.serve(upstream.server.url)
    one = ask(gateway, "a", encoding_format="base64")
    assert one.json()["data"][0]["embedding"] == [1.0, 2.5]
    again = ask(gateway, "a", encoding_format="base64")
    assert (outcome(again), again.body) == ("HIT", one.body)
    assert ask(gateway, "a").json() == one.json()


def test_simulated_engine_says_the_same_in_both_encodings():
    engine = idem_test.simulate()
    for given in ("a", ["a", "b"], [1, 2], [[1, 2], [3]]):
        floats = ask(engine, given, encoding_format="float")
        assert vectors(floats) == vectors(ask(engine, given, encoding_format="base64"))
        assert vectors(ask(engine, given)) == vectors(floats)


@field.row("BerriAI/litellm#2943", "BerriAI/litellm#2990", "BerriAI/litellm#29284", "BerriAI/litellm#41799")
def test_partial_hits_of_a_batch_keep_their_places():
    """["b","a","c"] with "a" stored came back with the indexes [0,1,1]."""
    for form in ("float", "base64"):
        upstream = Upstream()
        gateway = batching(upstream)
        assert outcome(ask(gateway, "a", encoding_format=form)) == "MISS"
        answer = ask(gateway, ["b", "a", "c"], encoding_format=form)
        assert [item["index"] for item in answer.json()["data"]] == [0, 1, 2]
        assert vectors(answer) == expected(["b", "a", "c"])
        assert upstream.inputs == [["a"], ["b", "c"]]
        assert outcome(answer) == "MISS"
        assert "fwd=partial" in answer["Cache-Status"] and "stored" in answer["Cache-Status"]
        assert "detail=items_partial" in answer["Cache-Status"], answer["Cache-Status"]
        for other in (["c", "b", "a"], ["a"], "b", ["a", "a", "c"]):
            hit = ask(gateway, other, encoding_format="float" if form == "base64" else "base64")
            assert (outcome(hit), vectors(hit)) == ("HIT", expected([other] if isinstance(other, str) else other))
        assert len(upstream.inputs) == 2
        gateway.stop()


def test_a_batch_of_which_nothing_is_stored_comes_back_as_it_came():
    upstream = Upstream()
    gateway = batching(upstream)
    direct = idem_test.request(upstream.server.url, PATH, body={"model": "m", "input": ["x", "yy"]})
    upstream.inputs.clear()
    first = ask(gateway, ["x", "yy"])
    assert (outcome(first), first.body) == ("MISS", direct.body)
    again = ask(gateway, ["x", "yy"])
    assert outcome(again) == "HIT" and again.json() == first.json() and again["Idem-Digest"] == first["Idem-Digest"]
    assert "hit" in again["Cache-Status"] and int(again["Age"]) >= 0
    assert outcome(ask(gateway, "yy")) == "HIT"
    assert len(upstream.inputs) == 1


def test_duplicates_are_computed_once():
    upstream = Upstream()
    gateway = batching(upstream)
    answer = ask(gateway, ["a", "b", "a", "a"])
    assert upstream.inputs == [["a", "b"]]
    assert vectors(answer) == expected(["a", "b", "a", "a"])
    assert answer.json()["usage"]["prompt_tokens"] == 8, "each place counts, as the upstream would have counted it"


def test_token_lists():
    upstream = Upstream()
    gateway = batching(upstream)
    assert outcome(ask(gateway, [1, 2])) == "MISS"
    answer = ask(gateway, [[3], [1, 2]])
    assert upstream.inputs == [[[1, 2]], [[3]]]
    assert vectors(answer) == expected([[3], [1, 2]])
    assert outcome(ask(gateway, [[1, 2]])) == "HIT"


def test_items_outlive_a_restart_in_the_second_tier():
    upstream = Upstream()
    data = idem_test.scratch("data-")
    file = pathlib.Path(data) / "idem.yaml"
    file.write_text(BATCH.format(url=upstream.server.url, cache=f'memory: 0, store: embedded, embedded: {{path: "{data}/store"}}'))
    gateway = idem_test.serve(config=file, data=data)
    texts = [f"text {n}" for n in range(300)]
    first = ask(gateway, texts)
    assert "stored" in first["Cache-Status"], first["Cache-Status"]
    gateway.stop()
    gateway = idem_test.serve(config=file, data=data)
    again = ask(gateway, list(reversed(texts)))
    assert outcome(again) == "HIT" and "detail=embedded" in again["Cache-Status"], again["Cache-Status"]
    assert vectors(again) == expected(list(reversed(texts)))
    assert len(upstream.inputs) == 1


def test_a_failing_part_is_told_as_it_came_and_nothing_is_stored():
    upstream = Upstream()
    gateway = batching(upstream)
    ask(gateway, "a")
    upstream.status = "429 Too Many Requests"
    answer = ask(gateway, ["b", "a"], status=429)
    assert answer.json()["error"]["message"] == "no" and answer["x-ratelimit-remaining"] == "7"
    assert upstream.inputs == [["a"], ["b"]]
    upstream.status = None
    assert outcome(ask(gateway, ["b", "a"])) == "MISS"
    assert upstream.inputs[2:] == [["b"]]


def test_a_part_that_does_not_come_apart_is_asked_for_whole():
    def short(whole):
        return {**whole, "data": whole["data"][:1]} if len(whole["data"]) == 2 else whole

    def twice_the_same(whole):
        return {**whole, "data": [{**item, "index": 0} for item in whole["data"]]} if len(whole["data"]) == 2 else whole

    for spoil in (short, twice_the_same):
        upstream = Upstream()
        gateway = batching(upstream)
        ask(gateway, "a")
        upstream.spoil = spoil
        answer = ask(gateway, ["b", "a", "c"])
        assert upstream.inputs == [["a"], ["b", "c"], ["b", "a", "c"]]
        assert vectors(answer) == expected(["b", "a", "c"])
        # The whole answer was good: its items are kept.
        assert outcome(ask(gateway, ["c", "b"])) == "HIT"
        gateway.stop()


def test_an_answer_with_wrong_indexes_is_passed_on_and_not_stored():
    upstream = Upstream()
    upstream.spoil = lambda whole: {**whole, "data": [{**item, "index": 0} for item in whole["data"]]}
    gateway = batching(upstream)
    answers = [ask(gateway, ["a", "b"]) for _ in range(2)]
    assert [outcome(a) for a in answers] == ["MISS", "MISS"]
    assert [item["index"] for item in answers[0].json()["data"]] == [0, 0]
    assert "stored" not in answers[0]["Cache-Status"]
    upstream.spoil = None
    assert outcome(ask(gateway, "a")) == "MISS"


def test_identical_batches_share_one_call():
    upstream = Upstream()
    gateway = batching(upstream)
    ask(gateway, "a")
    upstream.hold = threading.Event()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(ask(gateway, ["b", "a", "c"]))) for _ in range(20)]
    for thread in threads:
        thread.start()
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flight_followers") >= 20, "all follow", 20)
    upstream.hold.set()
    for thread in threads:
        thread.join()
    assert len(upstream.inputs) == 2 and len({answer.body for answer in answers}) == 1
    assert vectors(answers[0]) == expected(["b", "a", "c"])


def test_controls_reach_the_items():
    upstream = Upstream()
    gateway = batching(upstream)
    only = {"Cache-Control": "only-if-cached"}
    ask(gateway, ["a", "b"])
    assert outcome(ask(gateway, ["b", "a"], only)) == "HIT"
    assert ask(gateway, ["b", "z"], only, status=504)["X-Cache"] == "MISS"
    anew = ask(gateway, ["a", "b"], {"Cache-Control": "no-cache"})
    assert outcome(anew) == "MISS" and "detail=no_cache_request" in anew["Cache-Status"]
    assert upstream.inputs == [["a", "b"], ["a", "b"]]
    kept_out = ask(gateway, ["c", "a"], {"Cache-Control": "no-store"})
    assert upstream.inputs[2:] == [["c"]] and vectors(kept_out) == expected(["c", "a"])
    assert ask(gateway, ["c", "a"], only, status=504).status == 504
    old = ask(gateway, ["a", "b"], {"Cache-Control": "max-age=0"})
    assert "detail=max_age_exceeded" in old["Cache-Status"], old["Cache-Status"]


def test_a_compressed_batch_is_found_but_never_asked_for_in_part():
    upstream = Upstream()
    gateway = batching(upstream)
    ask(gateway, "a")

    def send(given):
        body = gzip.compress(json.dumps({"model": "m", "input": given}).encode())
        return idem_test.request(gateway.url, PATH, body=body, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})

    answer = send(["b", "a"])
    assert vectors(answer) == expected(["b", "a"]) and upstream.inputs == [["a"], ["b", "a"]]
    assert outcome(send(["a", "b"])) == "HIT" and outcome(ask(gateway, ["b", "a"])) == "HIT"


def test_large_batches():
    upstream = Upstream()
    gateway = batching(upstream, "store: memory, entry: 16KiB")
    texts = [f"text {n}" for n in range(2048)]
    assert outcome(ask(gateway, texts)) == "MISS"
    assert outcome(ask(gateway, texts[::-1])) == "HIT"
    whole = ask(gateway, [*texts, "one more than is taken apart"])
    assert outcome(whole) == "MISS" and len(upstream.inputs[-1]) == 2049


def test_single_is_the_default_and_has_entries_of_its_own():
    upstream = Upstream()
    gateway = idem_test.serve(upstream.server.url)
    ask(gateway, "a")
    assert outcome(ask(gateway, ["a"])) == "MISS"
    assert outcome(ask(gateway, ["a", "b"])) == "MISS"
    assert upstream.inputs == [["a"], ["a"], ["a", "b"]]


def test_idem_key_names_the_items():
    import subprocess
    upstream = Upstream()
    data = idem_test.scratch("key-")
    file = pathlib.Path(data) / "idem.yaml"
    file.write_text(BATCH.format(url=upstream.server.url, cache="store: memory"))
    gateway = batching(upstream)

    def key(body):
        done = subprocess.run([idem_test.BINARY, "key", "-c", str(file), "--path", PATH, "-o", "json", "-"], input=json.dumps(body).encode(),
                              capture_output=True, check=True)
        return json.loads(done.stdout)

    several = key({"model": "m", "input": ["a", "b", "a"]})
    assert len(several["items"]) == 3 and several["items"][0] == several["items"][2] != several["items"][1]
    assert several["digest"] == ask(gateway, ["a", "b", "a"])["Idem-Request"]
    one = key({"model": "m", "input": "b"})
    assert one["items"] == [several["items"][1]] and one["digest"] == ask(gateway, ["b"])["Idem-Request"] == several["items"][1]


field.main("items", globals())
