#!/usr/bin/env python3
"""The same call has one digest, whoever writes it: every major of OpenAI's SDKs, LangChain, the AI SDK, LiteLLM and curl, each
after the other through one gateway. Where a library writes another call than it is asked for, the members that differ are named."""
import json
import os
import pathlib
import subprocess
import sys

for folder in ("support", "../support/python"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), folder))
import idem_test  # noqa: E402
import sdks  # noqa: E402
import tap  # noqa: E402

USER = 'Why is the sky "blue"? é 漢 🙂'
CALL = {"model": "simulated", "system": "You paint walls.", "user": USER, "max_tokens": 40, "tool": {
    "name": "paint", "description": "Paints the wall.",
    "parameters": {"type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}, "required": ["colour"],
                   "additionalProperties": False}}}

# By hand: another order, other spaces, escapes where none is needed and another spelling of the numbers.
BY_HAND = ('{ "tools": [{"function": {"parameters": ' + json.dumps(CALL["tool"]["parameters"]) + ',\n "description": "Paints the wall.",'
           ' "name": "p\\u0061int"}, "type": "function"}], "tool_choice": "auto", "stream": false,\n "max_tokens": 4e1, "temperature": 0.0,'
           ' "messages": [{"content": "You paint walls.", "role": "system"}, {"role": "user", "content": ' + json.dumps(USER) + '}],'
           ' "model": "simulated"}')

JAVASCRIPT = ["openai-4", "openai-5", "openai-6", "openai-7", "langchain-1", "ai-7"]
PYTHON = ["openai-1", "openai-2", "openai-3", "langchain-1", "litellm-1"]


class Gateway:
    """Idem before a simulated engine, with a tap before it."""

    def __init__(self):
        self.engine = idem_test.simulate("--model", CALL["model"])
        self.tap = tap.start(idem_test.serve(self.engine.url).url)

    def written(self, who, command):
        """What the command's one call was: the body as written, its digest and X-Cache."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "PYTHONPATH"))}
        before = len(self.tap.seen)
        done = subprocess.run(command, env={**clean, "OPENAI_BASE_URL": self.tap.url + "/v1", "OPENAI_API_KEY": "test-key", "ONE_CALL": json.dumps(CALL)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False)
        assert done.returncode == 0, f"{who}:\n{done.stdout}"
        assert len(self.tap.seen) == before + 1, f"{who} made {len(self.tap.seen) - before} calls:\n{done.stdout}"
        path, body, answer = self.tap.seen[-1]
        assert (path, answer.status) == ("/v1/chat/completions", 200), (who, path, answer.status)
        return body, answer.headers["Idem-Request"], answer.headers["X-Cache"]

    def curl(self, body):
        return self.written("curl", ["curl", "-sSf", "-H", "Authorization: Bearer test-key", "-H", "Content-Type: application/json",
                                     "--data-binary", body, self.tap.url + "/v1/chat/completions"])


def javascript(name):
    return [*sdks.javascript(name, "one_call"), sdks.family(name)]


def python(name, writer=None):
    return [*sdks.python(name, "one_call"), writer or sdks.family(name)]


def differing(a, b):
    """The JSON pointers that `idem explain` names for two bodies."""
    files = []
    for body in (a, b):
        files.append(pathlib.Path(idem_test.scratch()) / "body.json")
        files[-1].write_bytes(body)
    done = subprocess.run([idem_test.BINARY, "explain", "-o", "json", *files], capture_output=True, text=True, timeout=30, check=False)
    return [difference["pointer"] for difference in json.loads(done.stdout)["differences"]]


def test_one_digest_whoever_writes():
    gateway = Gateway()
    _, digest, cache = gateway.curl(BY_HAND)
    assert digest and cache == "MISS", (digest, cache)
    writers = [(f"{name} (npm)", javascript(name)) for name in JAVASCRIPT] + [(f"{name} (PyPI)", python(name)) for name in PYTHON]
    for who, command in writers:
        body, its_digest, cache = gateway.written(who, command)
        assert (its_digest, cache) == (digest, "HIT"), (who, its_digest, cache, body)
        print(f"    {who}")
    assert gateway.engine.stats()["calls"] == 1


def test_langchain_openai_renames_max_tokens():
    """Its own `max_tokens` goes out as `max_completion_tokens`, which is another limit to an engine: another call, another digest."""
    gateway = Gateway()
    told, told_digest, _ = gateway.written("langchain-openai", python("langchain-1"))
    usual, usual_digest, cache = gateway.written("langchain-openai", python("langchain-1", "langchain_completion_tokens"))
    assert (cache, usual_digest != told_digest) == ("MISS", True), (cache, usual)
    assert sorted(differing(told, usual)) == ["/max_completion_tokens", "/max_tokens"], differing(told, usual)


def test_the_ai_sdk_adds_tool_choice():
    """It writes `tool_choice: "auto"` unasked; a call that leaves it to the engine is another call."""
    gateway = Gateway()
    written, digest, _ = gateway.written("ai", javascript("ai-7"))
    without = json.loads(BY_HAND)
    del without["tool_choice"]
    body, without_digest, cache = gateway.curl(json.dumps(without))
    assert (cache, without_digest != digest) == ("MISS", True), (cache, body)
    assert differing(written, body) == ["/tool_choice"], differing(written, body)


if __name__ == "__main__":
    idem_test.main(globals())
