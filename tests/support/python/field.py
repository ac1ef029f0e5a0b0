"""What the field_*_test.py scripts share: cases named after the thread or source in which users of another gateway suffered it.

tests/golden/field.txt lists them all; field.main() fails where a script and its part of that list differ.
"""
import itertools
import json
import os

import idem_test
import raw_upstream
import wire

CHAT = "/v1/chat/completions"
CASES = {}


def row(*names):
    """Names as in the golden: "owner/repository#number", or a system and what was read in its source."""
    def add(case):
        CASES[f"{case.__name__} ({', '.join(names)})"] = case
        case.rows = names
        return case
    return add


def main(section, others=None):
    """`others`: the names of a script that has cases of its own besides."""
    others = {name: case for name, case in (others or {}).items() if not hasattr(case, "rows")}

    def test_the_list_of_rows_is_the_frozen_one():
        lines = (idem_test.ROOT / "tests" / "golden" / "field.txt").read_text().splitlines()
        frozen = [line.partition(": ")[2] for line in lines if line.startswith(section + ": ")]
        ours = [name for case in CASES.values() for name in case.rows]
        assert sorted(ours) == sorted(frozen), set(ours) ^ set(frozen)

    idem_test.main({**others, **CASES, "test_the_list_of_rows_is_the_frozen_one": test_the_list_of_rows_is_the_frozen_one})


def completion(content="hi", finish="stop", message=None, **more):
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": content, **(message or {})}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}, **more}


def event(value, name=None):
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n"


def events(*deltas, finish="stop", usage=None, done=True):
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    out = [event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas]
    if finish:
        out.append(event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
    if usage:
        out.append(event({**base, "choices": [], "usage": usage}))
    return [*out, "data: [DONE]\n\n"] if done else out


def body_of(request):
    return request.partition(b"\r\n\r\n")[2]


def chat(content="x", **more):
    return {"model": "m", "messages": [{"role": "user", "content": content}], **more}


def upstream(answer):
    """`answer(call)` gives the bytes of the answer to a call: its body as JSON, or None where that is none."""
    def respond(request):
        try:
            call = json.loads(body_of(request))
        except ValueError:
            call = None
        given = answer(call)
        return given if isinstance(given, tuple) else (given, "keep")

    return raw_upstream.RawUpstream(respond)


def counting():
    """An upstream whose every answer differs, so that a shared entry shows in the body."""
    numbers = itertools.count(1)
    return upstream(lambda call: raw_upstream.sized(json.dumps(completion(f"answer {next(numbers)}"))))


def post(gateway, body, headers=None, path=CHAT):
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return wire.post(gateway.url, path, data, headers)


def cache_of(answer):
    return answer.headers["x-cache"]


def settled(gateway):
    """A stream's end comes before its answer is stored: until then the next caller joins."""
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_flights") == 0, "nothing is in flight", 20)


def configured(url, **document):
    path = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cache": {"store": "memory"}, "upstreams": [{"name": "up", "replicas": [{"id": "r1", "url": url}]}], **document}, file)
    return idem_test.serve(config=path)
