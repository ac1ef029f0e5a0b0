"""What the scenarios of every SDK have in common."""
import importlib.util
import itertools
import json
import os
import sys
import time
import traceback
import urllib.request

STAMP = f"{os.getpid()}-{time.time_ns()}"


def raw(resource, **request):
    """(X-Cache, bytes) of an answer, over the SDK's own transport."""
    with resource.with_streaming_response.create(**request) as response:
        assert response.status_code == 200, response.status_code
        return response.headers.get("x-cache"), response.read()


def twice(resource, **request):
    """Sends the request twice; the second is a hit with the same bytes."""
    first_cache, first = raw(resource, **request)
    second_cache, second = raw(resource, **request)
    assert (first_cache, second_cache) == ("MISS", "HIT"), (first_cache, second_cache)
    assert first == second
    return first


def recorder():
    """For libraries that do not show their transport: the X-Cache of every answer from here on, in turn."""
    caches = []
    for name in ("httpx", "httpx2"):
        if importlib.util.find_spec(name):
            client = importlib.import_module(name).Client

            def send(self, request, *words, original=client.send, **options):
                response = original(self, request, *words, **options)
                caches.append(response.headers.get("x-cache"))
                return response

            client.send = send
    return caches


def twice_equal(caches, call):
    """With recorder()'s result: a call twice, the second a hit of which the library makes the same value; that value."""
    caches.clear()
    first, second = call(), call()
    assert caches == ["MISS", "HIT"], caches
    assert first == second, (first, second)
    return first


def new_ask(numbers=itertools.count(1)):
    """A question that nobody has asked before."""
    return f'Question {STAMP}-{next(numbers)}: why is the sky blue? "quoted" é 漢 🙂'


# A tool as OpenAI's API describes it.
TOOL = {"type": "function", "function": {
    "name": "paint", "description": "Paints the wall.",
    "parameters": {"type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}, "required": ["colour"],
                   "additionalProperties": False}}}


def aborted_streams():
    with urllib.request.urlopen(os.environ["PROVIDER_STATS"] + "/provider/stats", timeout=10) as answer:
        return json.load(answer)["aborted_streams"]


def main(cases):
    """Runs what is called test_… and ends the process."""
    passed = failed = 0
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, case in list(cases.items()):
        if not name.startswith("test_") or only not in name:
            continue
        try:
            case()
            passed += 1
            print(f"  ok      {name}", flush=True)
        except Exception:  # every failure of a case is its result
            failed += 1
            print(f"  FAILED  {name}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed or not passed else 0)
