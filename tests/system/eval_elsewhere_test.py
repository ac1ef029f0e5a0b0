#!/usr/bin/env python3
"""`idem eval` where more than one server is asked: through a gateway, replicas, and one that is started anew."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
from evaluation import cells, evaluate, failed, louder, prompts, relay

FEW = '{"name": "one", "prompt": "Why do rivers bend?", "max_tokens": 24}\n{"name": "two", "prompt": "用两句话说明。", "max_tokens": 24}\n'


def test_an_answer_through_a_gateway_is_the_engines_and_not_a_stored_one():
    engine = idem_test.simulate("--engine", "vllm", "--latency", "2")
    gateway = idem_test.serve(engine.url)
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold,gateway", "--runs", "40", "--p-max", "0.2"]
    for _ in range(2):  # whatever the first left in the gateway
        before = engine.stats()["calls"]
        _, report, out = evaluate(engine, *common, "--gateway", gateway.url + "/v1", status=0)
        assert cells(report)["gateway"]["runs"] == 2 * 2 * 40 and not report["skipped"], report
        # 2 prompts: one call each to try, 40 alone, 40 straight and 40 through the gateway; and the control.
        assert engine.stats()["calls"] - before == 2 * (1 + 3 * 40) + 10, engine.stats()
    runs = [r for r in map(json.loads, open(os.path.join(out, "runs.jsonl"), encoding="utf-8")) if r.get("variant")]
    assert {(r["variant"], r["form"]) for r in runs} == {(w, f) for w in ("direct", "gateway") for f in ("json", "sse")}
    first = [next(r["variant"] for r in runs if r["run"] == n and r["prompt"] == "one") for n in range(40)]
    assert first.count("direct") == 20, first


def test_a_gateway_that_changes_an_answer_or_gives_a_stored_one_is_seen():
    engine = idem_test.simulate("--engine", "vllm")
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold,gateway", "--runs", "40", "--p-max", "0.2"]
    _, report, _ = evaluate(engine, *common, "--gateway", relay(engine.url, louder).url, status=1)
    assert failed(report) == {"gateway"}, report["reasons"]
    flips = {(r["prompt"], r["variant"]): r["flips"] for r in report["results"] if r["cell"] == "gateway"}
    assert flips == {("one", "direct"): 0, ("two", "direct"): 0, ("one", "gateway"): 20, ("two", "gateway"): 20}, flips

    def stored(request):
        body = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}]})
        assert b"cache-control: no-cache" in request.lower()
        return raw_upstream.sized(body, extra="X-Cache: HIT\r\n"), "keep"

    _, report, _ = evaluate(engine, *common, "--gateway", raw_upstream.RawUpstream(stored).url, status=3)
    assert any(why.startswith("gateway: 2 prompts have fewer runs") for why in report["reasons"]), report["reasons"]
    wrong, _, _ = evaluate(engine, "--gateway", "ftp://x", status=2)
    assert "--gateway" in wrong.stderr, wrong.stderr


def test_replicas_answer_alike_or_are_named():
    engine, same = idem_test.simulate("--engine", "vllm"), idem_test.simulate("--engine", "vllm")
    other = relay(engine.url, louder)
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold,replicas", "--p-max", "0.2", "--runs"]
    _, report, out = evaluate(engine, *common, "40", "--replica", same.url, status=0)
    assert cells(report)["replicas"]["runs"] == 2 * 2 * 40 and same.stats()["calls"] == 80, (report, same.stats())
    assert {r["variant"] for r in report["results"] if r["cell"] == "replicas"} == {engine.url, same.url}
    with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
        assert [(r["url"], len(r["environment"])) for r in json.load(file)["replicas"]] == [(engine.url, 64), (same.url, 64)]
    _, report, _ = evaluate(engine, *common, "40", "--replica", same.url, "--replica", other.url, status=1)
    assert failed(report) == {"replicas"} and {r["variant"] for r in report["results"] if r["flips"]} - {""} == {other.url}, report["reasons"]
    # Another version is said, and is no change.
    newer = idem_test.simulate("--engine", "vllm", "--version-string", "9.9.9")
    _, report, _ = evaluate(engine, *common, "40", "--replica", newer.url, status=0)
    assert f"The replica {newer.url} has another environment than the target." in report["reasons"], report["reasons"]
    # One that changes meanwhile is.
    moving = idem_test.simulate("--engine", "vllm", "--latency", "5", "--change-environment-after", "0.6")
    _, report, _ = evaluate(engine, *common, "100", "--replica", moving.url, status=4)
    # Nobody there.
    _, report, _ = evaluate(engine, *common, "40", "--replica", f"http://127.0.0.1:{idem_test.free_port()}", status=3)
    assert any(why.startswith("replicas: 2 prompts have fewer runs") for why in report["reasons"]), report["reasons"]


def test_a_server_that_is_started_anew_answers_as_before_or_is_named():
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold,restart", "--runs", "40", "--p-max", "0.2"]
    engine = idem_test.simulate("--engine", "vllm")
    folder = idem_test.scratch()
    script = os.path.join(folder, "start anew.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("import os, signal, socket, subprocess, sys, time\n"
                   "pid, log, *words = sys.argv[1:]\n"
                   "os.kill(int(open(pid).read()), signal.SIGKILL)\n"
                   "host, _, port = words[words.index('--listen') + 1].partition(':')\n"
                   "while socket.socket().connect_ex((host, int(port))) == 0: time.sleep(0.01)\n"
                   "new = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=open(log, 'a'), stderr=subprocess.STDOUT, start_new_session=True)\n"
                   "open(pid, 'w').write(str(new.pid))\n")
    pid, log = os.path.join(folder, "pid"), os.path.join(folder, "log")
    with open(pid, "w", encoding="utf-8") as file:
        file.write(str(engine.pid))
    listen = engine.url.removeprefix("http://")
    command = f"{sys.executable} '{script}' {pid} {log} {idem_test.BINARY} simulate --engine vllm --listen {listen} --slow-start 0.3"
    try:
        _, report, out = evaluate(engine, *common, "--restart-command", command, status=0)
    finally:
        with open(pid, encoding="utf-8") as file:
            os.kill(int(file.read()), signal.SIGKILL)
    with open(log, encoding="utf-8") as file:
        assert file.read().count("simulating vllm") == 3
    assert cells(report)["restart"]["runs"] == 80 and cells(report)["restart"]["lifetimes"] == 3, report["cells"]
    assert any(why.startswith("restart: 0 of 3 lifetimes") for why in report["reasons"]), report["reasons"]
    runs = [r for r in map(json.loads, open(os.path.join(out, "runs.jsonl"), encoding="utf-8")) if r.get("cell") == "restart" and "run" in r]
    assert {n: sum(r["lifetime"] == n for r in runs) for n in range(4)} == {0: 0, 1: 26, 2: 26, 3: 28}, runs
    # One that is another from its second start on.
    engine = idem_test.simulate("--engine", "vllm")
    starts = os.path.join(folder, "starts")
    changed = relay(engine.url, lambda *call: louder(*call) if os.path.exists(starts) and os.path.getsize(starts) > 1 else call[-1])
    _, report, _ = evaluate(changed.url, *common, "--restart-command", f"{sys.executable} -c \"open('{starts}', 'a').write('x')\"", status=1)
    assert failed(report) == {"restart"} and cells(report)["restart"]["flipped_lifetimes"] == 2, report["reasons"]


def test_a_command_that_fails_or_hangs_ends_the_evaluation_with_a_report():
    engine = idem_test.simulate("--engine", "vllm")
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold,restart", "--runs", "20", "--p-max", "0.3"]
    for command, what in (("false", "false ended with status 1"), ("/nowhere/at-all", "cannot run /nowhere/at-all"),
                          ("sh -c 'sleep 61.125 & sleep 61.125'", "sh did not end in time")):
        done, report, _ = evaluate(engine, *common, "--restart-command", command, "--restart-timeout", "500ms", status=3)
        assert what in done.stdout and "Broken off after 50 runs" in done.stdout, done.stdout
        assert any(why.startswith("restart: no run") for why in report["reasons"]), report["reasons"]
    left = [p for p in os.listdir("/proc") if p.isdigit() and b"61.125" in open_or_empty(f"/proc/{p}/cmdline")]
    assert not left, left
    # One that never comes back.
    done, _, _ = evaluate(engine, *common, "--restart-command", f"kill -KILL {engine.pid}", "--restart-timeout", "1s", status=3)
    assert "did not come back" in done.stdout, done.stdout
    for words in (["--restart-command", "sh -c 'a"], ["--restart-command", "a", "--restart-timeout", "soon"]):
        wrong, _, _ = evaluate(engine, *words, status=2)
        assert words[-2] in wrong.stderr, wrong.stderr


def test_an_upstream_of_the_configuration_brings_its_engine_credential_and_replicas():
    one, two = idem_test.simulate("--engine", "vllm"), idem_test.simulate("--engine", "vllm")
    seen = [relay(one.url), relay(two.url)]

    config = os.path.join(idem_test.scratch(), "idem.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("upstreams:\n"
                   f"  - name: qwen\n    engine: vllm\n    credentials: {{bearer: \"${{QWEN_KEY}}\"}}\n"
                   f"    replicas: [{{id: a, url: \"{seen[0].url}\"}}, {{id: b, url: \"{seen[1].url}/v1\"}}]\n"
                   "routes:\n  - {upstream: qwen, policy: relaxed}\n")
    path, out = prompts(FEW), os.path.join(idem_test.scratch(), "out")
    common = ["--cells", "solo-cold,replicas", "--runs", "30", "--p-max", "0.3", "--prompts", path]

    def run(*words, env={"QWEN_KEY": "sk-of-the-file"}):  # pylint: disable=dangerous-default-value
        return subprocess.run([idem_test.BINARY, "eval", "--out", out, *words], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, **env})

    done = run("--upstream", "qwen", "-c", config, *common)
    assert done.returncode == 0, (done.stdout, done.stderr)
    with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
        about = json.load(file)
    assert about["engine"] == "vllm" and about["upstream"] == "qwen" and about["target"] == seen[0].url, about
    assert [r["id"] for r in about["replicas"]] == ["a", "b"] and "sk-of" not in json.dumps(about), about
    for server in seen:
        assert server.requests and all(b"authorization: bearer sk-of-the-file" in r.lower() for r in server.requests), server.requests[0]
    with open(os.path.join(out, "report.json"), encoding="utf-8") as file:
        assert {r["variant"] for r in json.load(file)["results"] if r["cell"] == "replicas"} == {"a", "b"}
    # Nothing is left to do, and that of the same upstream alone.
    assert run("--upstream", "qwen", "-c", config, "--resume").returncode == 0
    for words, what in ((["--target", seen[0].url, "--resume"], "--upstream qwen"), (["--upstream", "nobody", "-c", config], "no upstream \"nobody\""),
                        (["--upstream", "qwen", "-c", "/nowhere"], "/nowhere: there is no such file"), (["--upstream", "qwen", "-c", config, "--engine", "vllm"], "--engine"),
                        (["--upstream", "qwen", "-c", config, "--target", "http://x"], "--target"), ([], "--target or --upstream"),
                        (["--upstream", "qwen", "-c", config, "--replica", "http://x"], "--replica"),
                        (["--target", "http://x", "--replica", "http://x"], "twice")):
        wrong = run(*words)
        assert wrong.returncode == 2 and what in wrong.stderr, (words, wrong.returncode, wrong.stderr)
    assert run("--upstream", "qwen", "-c", config, env={}).returncode == 2  # the secret is not there


def open_or_empty(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


idem_test.main(globals())
