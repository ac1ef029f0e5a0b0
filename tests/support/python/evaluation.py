"""`idem eval` for the test scripts: run it, read its report."""
import json
import os
import subprocess
import urllib.error
import urllib.request

import idem_test
import raw_upstream


def prompts(text):
    path = os.path.join(idem_test.scratch(), "prompts.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def evaluate(engine, *words, status=None, env=None):
    """(exit status, report, directory); the report is {} where there is none."""
    out = os.path.join(idem_test.scratch(), "out")
    url = engine if isinstance(engine, str) else engine.url
    done = subprocess.run([idem_test.BINARY, "eval", *words, "--target", url, "--out", out], capture_output=True, text=True, timeout=300,
                          check=False, env={**os.environ, **(env or {})})
    path = os.path.join(out, "report.json")
    report = json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}
    if status is not None:
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done, report, out


def cells(report):
    return {c["cell"]: c for c in report["cells"]}


def failed(report):
    return {c["cell"] for c in report["cells"] if c["flips"] and c["cell"] != "control"}


def relay(url, change=lambda method, path, asked, answer: answer):
    """A server that asks `url`, and answers what `change` makes of the answer."""
    def answer(request):
        head, _, rest = request.partition(b"\r\n\r\n")
        method, path, _ = head.split(b"\r\n")[0].decode().split(" ")
        ask = urllib.request.Request(url + path, data=rest or None, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(ask, timeout=10) as got:
                body, kind = got.read(), got.headers["Content-Type"]
        except urllib.error.HTTPError as error:
            return raw_upstream.sized(error.read(), status=f"{error.code} X"), "keep"
        return raw_upstream.sized(change(method, path, rest, body), kind), "keep"

    return raw_upstream.RawUpstream(answer)


def louder(_method, path, asked, answer):
    """Other words where they were asked for greedily and as an object."""
    if path != "/v1/chat/completions" or json.loads(asked)["temperature"] or json.loads(asked).get("stream"):
        return answer
    whole = json.loads(answer)
    whole["choices"][0]["message"]["content"] = whole["choices"][0]["message"]["content"].upper()
    return json.dumps(whole).encode()
