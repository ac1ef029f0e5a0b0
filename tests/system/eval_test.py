#!/usr/bin/env python3
"""`idem eval` against simulated engines that are steady, that flip, and that depend on what is beside or before a call."""
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import raw_upstream
from evaluation import cells, evaluate, failed, louder, prompts, relay

ONE = '{"name": "one", "prompt": "Why do rivers bend?", "max_tokens": 24}\n'
FEW = ONE + '{"name": "two", "prompt": "用两句话说明。", "max_tokens": 24}\n'


def test_a_steady_engine_scores_one_in_every_cell_and_all_reports_say_so():
    engine = idem_test.simulate("--engine", "vllm", "--latency", "40")
    done, report, out = evaluate(engine, "--engine", "vllm", "--prompts", prompts(FEW), "--runs", "20", "--p-max", "0.3", "--seed", "7", status=0)
    assert report["verdict"] == "deterministic" and report["score"] == 1.0 and report["exit"] == 0, report
    ran = {"solo-cold", "solo-hot", "history", "burst", "noise", "prefix", "form", "control"}
    assert set(cells(report)) == ran, cells(report)
    assert {c["cell"]: re.search("--[a-z-]+", c["why"])[0] for c in report["skipped"]} == {"gateway": "--gateway", "replicas": "--replica", "restart": "--restart-command"}, report["skipped"]
    assert cells(report)["burst"]["peak_running"] > 1 and cells(report)["noise"]["peak_in_flight"] > 1, cells(report)
    assert report["control_saw_a_difference"] and report["environment"], report
    assert all(r["unique"] == 1 and r["score"] == 1.0 for r in report["results"] if r["cell"] != "control")
    assert any(f.startswith("engine_version=") for f in report["facts"]), report["facts"]
    suites = xml.etree.ElementTree.parse(os.path.join(out, "junit.xml")).getroot()
    assert {s.get("name") for s in suites if s.get("failures") == "0"} == ran, [s.attrib for s in suites]
    with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
        page = file.read()
    assert "Content-Security-Policy" in page and "<script" not in page and "http://" not in page.replace(engine.url, ""), page[:400]
    assert "deterministic" in done.stdout and "about" in done.stdout
    # The reports come out of what was recorded.
    os.remove(os.path.join(out, "report.json"))
    again = subprocess.run([idem_test.BINARY, "eval", "report", out], capture_output=True, text=True, check=False)
    assert again.returncode == 0 and json.load(open(os.path.join(out, "report.json"), encoding="utf-8")) == report
    # A place where something lies already is left alone.
    busy = subprocess.run([idem_test.BINARY, "eval", "--target", engine.url, "--out", out], capture_output=True, text=True, check=False)
    assert busy.returncode == 2 and "--out" in busy.stderr, busy


def repeated(flags, seeds, runs="200"):
    """How often each exit status came, an evaluation a seed; and the scores."""
    engine = idem_test.simulate(*flags)
    path, codes, scores = prompts(ONE), [], []
    for seed in seeds:
        done, report, _ = evaluate(engine, "--prompts", path, "--cells", "solo-cold", "--runs", runs, "--seed", str(seed))
        codes.append(done.returncode)
        scores.append(report["score"])
    return codes, scores


def test_a_flip_in_a_hundred_answers_is_seen_by_200_runs():
    # One in 0.99^200 = 13 % is missed; of 12 at least 6 are seen but once in 40,000 times. The long test counts 100.
    many = 100 if idem_test.LONG else 12
    codes, _ = repeated(["--flip-hazard", "0.01"], range(1, many + 1))
    assert set(codes) <= {0, 1}, codes
    assert codes.count(1) >= (78 if idem_test.LONG else 6), codes
    codes, scores = repeated([], range(1, (100 if idem_test.LONG else 5) + 1))
    assert set(codes) == {0} and set(scores) == {1.0}, (codes, scores)


def test_what_an_answer_depends_on_shows_in_its_own_cell_alone():
    path = prompts(FEW)
    common = ["--engine", "vllm", "--prompts", path, "--runs", "30", "--p-max", "0.2", "--seed", "3"]
    for flags, shows in ((["--batch-sensitive", "--latency", "5"], {"noise", "burst"}), (["--prefix-cache", "--latency", "5"], {"solo-hot"}),
                         (["--global-rng", "--latency", "5"], {"history"})):
        engine = idem_test.simulate("--engine", "vllm", *flags)
        _, report, _ = evaluate(engine, *common, status=1)
        assert failed(report) == shows, (flags, failed(report), report["reasons"])
        assert report["score"] < 1 and any(r["first_difference"]["token"] >= 0 for r in report["results"] if r["flips"] and r["cell"] in shows)
        hot = [r for r in report["results"] if r["cell"] == "solo-hot"]
        assert all(r["first_differs"] for r in hot) == (shows == {"solo-hot"}), hot
        engine.stop()


def test_a_prefix_that_is_half_cached_shows_in_its_own_cell():
    engine = idem_test.simulate("--engine", "vllm")
    kept, shared = {}, set()

    def cached(method, path, asked, answer):
        """The engine's answer; another one where the salt's cache holds the beginning of another prompt."""
        if path != "/v1/chat/completions":
            return answer
        body = json.loads(asked)
        text = body["messages"][-1]["content"]
        before = kept.setdefault(body.get("cache_salt"), [])
        common = [len(os.path.commonprefix([text, other])) for other in before if other != text]
        before.append(text)
        shared.update(common)
        return louder(method, path, asked, answer) if max(common, default=0) > 5 else answer

    words = " ".join(f"word{n}" for n in range(600))
    path = prompts(FEW + json.dumps({"name": "long", "prompt": words, "max_tokens": 8}) + "\n")
    common = ["--engine", "vllm", "--prompts", path, "--cells", "solo-cold,solo-hot,prefix", "--runs", "20", "--p-max", "0.3"]
    _, report, _ = evaluate(relay(engine.url, cached).url, *common, status=1)
    assert failed(report) == {"prefix"}, report["reasons"]
    # 1, 511, 2048 and 4097 words in turn, of which there are not as many: all but the last, in the end.
    assert {len("word0 "), len(" ".join(f"word{n}" for n in range(511))) + 1, len(words) - len("word599")} <= shared, shared
    assert {r["prompt"]: r["flips"] for r in report["results"] if r["cell"] == "prefix"} == {"one": 15, "two": 15, "long": 20}, report["results"]
    assert cells(report)["prefix"]["others_answered"] == 60, cells(report)
    _, report, _ = evaluate(engine, *common, status=0)
    # Where no state is known none is claimed.
    _, report, _ = evaluate(idem_test.simulate(), "--prompts", path, "--cells", "solo-cold,prefix", "--runs", "20", "--p-max", "0.3", status=0)
    assert [c["cell"] for c in report["skipped"]] == ["prefix"], report["skipped"]


def test_token_ids_in_place_of_text_leave_no_template_between():
    dated = idem_test.simulate("--engine", "vllm", "--dated-template", "--latency", "20")
    _, report, _ = evaluate(dated, "--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold", "--runs", "60", "--p-max", "0.2", "--input", "tokens",
                            status=0)
    assert not report["prompt_drift"], report["reasons"]
    for engine in ("vllm", "sglang", "llamacpp"):
        server = idem_test.simulate("--engine", engine, "--latency", "2")
        _, report, out = evaluate(server, "--engine", engine, "--prompts", prompts(FEW), "--cells", "solo-cold,prefix,noise,form", "--runs", "30",
                                  "--p-max", "0.3", "--input", "tokens", status=0)
        with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
            about = json.load(file)
        assert about["input"] == report["input"] == "tokens" and {p["path"] for p in about["prompts"]} == {"/v1/completions"}, about
        assert all(isinstance(i, int) for p in about["prompts"] for i in json.loads(p["body"])["prompt"]), about["prompts"]
        told = {r["tokens"] for r in report["results"] if r["cell"] != "control"}
        assert told == ({"words"} if engine == "llamacpp" else {"engine"}), (engine, told)
        stats = server.stats()["paths"]
        assert stats["/v1/completions"] >= 240 and stats["/v1/chat/completions"] == report_calls_beside(report), (stats, cells(report))
        server.stop()
    for engine in ("ollama", "generic"):
        wrong, _, _ = evaluate("http://127.0.0.1:1", "--engine", engine, "--input", "tokens", status=2)
        assert "--input tokens" in wrong.stderr and "llamacpp" in wrong.stderr, wrong.stderr
    # A server that has no such endpoint, and one that gives no ids.
    for body, status, what in (("{}", "404 Not Found", "status 404"), ("{}", "200 OK", "no list of token ids")):
        upstream = raw_upstream.RawUpstream(lambda request, body=body, status=status: (raw_upstream.sized(body, status=status), "keep"))
        done, report, _ = evaluate(upstream.url, "--engine", "vllm", "--prompts", prompts(FEW), "--model", "m", "--input", "tokens", status=3)
        assert what in done.stderr and not report, done.stderr


def report_calls_beside(report):
    """The neighbours of the noise cell, which are chats."""
    return cells(report)["noise"]["others_answered"] + cells(report)["noise"]["others_failed"]


def test_a_template_with_a_clock_is_prompt_drift():
    engine = idem_test.simulate("--dated-template", "--latency", "60")
    _, report, _ = evaluate(engine, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "60", status=1)
    assert report["prompt_drift"] and any("prompt drift" in why for why in report["reasons"]), report["reasons"]


def test_what_proves_nothing_is_not_called_deterministic():
    # An answer that never differs, not even when it should.
    answer = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "always the same words"}, "finish_reason": "stop"}]})
    same = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized(answer), "keep"))
    _, report, _ = evaluate(same.url, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "200", "--model", "m", status=3)
    assert not report["control_saw_a_difference"] and any("control" in why for why in report["reasons"]), report["reasons"]
    # Too few runs for the bound.
    engine = idem_test.simulate()
    _, report, _ = evaluate(engine, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "20", status=3)
    assert any("more runs are needed" in why for why in report["reasons"]), report["reasons"]
    # Calls without an answer.
    broken = idem_test.simulate("--error-rate", "0.5")
    done, report, _ = evaluate(broken, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "200")
    assert done.returncode == 3, done
    # Nobody there, and garbage.
    done, report, _ = evaluate(f"http://127.0.0.1:{idem_test.free_port()}", "--prompts", prompts(ONE), "--model", "m", status=3)
    assert "no usable answer" in done.stderr and not report, done.stderr
    garbage = raw_upstream.RawUpstream(lambda request: (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{]\xff", "keep"))
    done, report, _ = evaluate(garbage.url, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "5", "--model", "m", status=3)
    assert report["errors"] >= 5, report


def test_an_environment_that_changes_is_told_and_a_baseline_is_held_to():
    common = ["--engine", "vllm", "--prompts", prompts(FEW), "--cells", "solo-cold", "--runs", "200"]
    engine = idem_test.simulate("--engine", "vllm")
    _, _, out = evaluate(engine, *common, status=0)
    file = os.path.join(idem_test.scratch(), "baseline.json")
    frozen = subprocess.run([idem_test.BINARY, "eval", "baseline", out, "--out", file], capture_output=True, text=True, check=False)
    assert frozen.returncode == 0 and os.path.exists(file), frozen

    def gate(target, status):
        out = os.path.join(idem_test.scratch(), "gate")
        done = subprocess.run([idem_test.BINARY, "eval", "gate", "--baseline", file, "--target", target.url, "--out", out], capture_output=True,
                              text=True, timeout=120, check=False)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return json.load(open(os.path.join(out, "report.json"), encoding="utf-8"))

    gate(engine, 0)
    bumped = gate(idem_test.simulate("--engine", "vllm", "--version-string", "9.9.9"), 4)
    assert any("environment is not the baseline's" in why for why in bumped["reasons"]), bumped["reasons"]
    # The same environment, other words: an upstream that says them louder.
    other = gate(relay(engine.url, louder), 5)
    assert sum("another than the baseline's" in why for why in other["reasons"]) == 2 and "none" in other["reasons"][-1], other["reasons"]
    # A change in the middle.
    changing = idem_test.simulate("--engine", "vllm", "--latency", "5", "--change-environment-after", "0.6")
    _, report, _ = evaluate(changing, *common, status=4)
    assert any("environment changed" in why for why in report["reasons"]), report["reasons"]


def test_an_evaluation_that_is_interrupted_reports_what_it_has():
    engine = idem_test.simulate("--latency", "20")
    out = os.path.join(idem_test.scratch(), "out")
    child = subprocess.Popen([idem_test.BINARY, "eval", "--target", engine.url, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "200",
                              "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    idem_test.wait_until(lambda: engine.stats()["calls"] > 60, "some blocks are done", 20)
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=30)
    assert child.returncode == 3 and "Interrupted after" in said, (child.returncode, said)
    report = json.load(open(os.path.join(out, "report.json"), encoding="utf-8"))
    assert report["runs"] >= 25, report
    # It goes on where it stopped: what was whole is kept, what was not is made anew.
    more = subprocess.run([idem_test.BINARY, "eval", "--target", engine.url, "--out", out, "--resume"], capture_output=True, text=True, timeout=60, check=False)
    assert more.returncode == 0, (more.returncode, more.stdout, more.stderr)
    report = json.load(open(os.path.join(out, "report.json"), encoding="utf-8"))
    assert cells(report)["solo-cold"]["runs"] == 200 and engine.stats()["calls"] < 280, (report["cells"], engine.stats())
    assert len({(r["cell"], r["run"]) for r in map(json.loads, open(os.path.join(out, "runs.jsonl"), encoding="utf-8")) if "run" in r}) == 210
    wrong = subprocess.run([idem_test.BINARY, "eval", "--target", "http://127.0.0.1:1", "--out", out, "--resume"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "not of" in wrong.stderr, wrong
    # A torn line at the end of a file that nobody closed.
    with open(os.path.join(out, "runs.jsonl"), "a", encoding="utf-8") as file:
        file.write('{"cell":"solo-cold","prom')
    again = subprocess.run([idem_test.BINARY, "eval", "report", out], capture_output=True, text=True, check=False)
    assert again.returncode == 0 and json.load(open(os.path.join(out, "report.json"), encoding="utf-8"))["torn"], again
    with open(os.path.join(out, "runs.jsonl"), "a", encoding="utf-8") as file:
        file.write("\n{}\n")
    broken = subprocess.run([idem_test.BINARY, "eval", "report", out], capture_output=True, text=True, check=False)
    assert broken.returncode == 3 and re.search(r"runs.jsonl:\d+: not a JSON object", broken.stderr), broken


def test_a_budget_cuts_runs_and_a_credential_is_no_word_of_the_command_line():
    engine = idem_test.simulate("--latency", "20")
    began = time.monotonic()
    done, report, _ = evaluate(engine, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "100000", "--budget", "2s")
    assert done.returncode in (0, 3) and time.monotonic() - began < 30 and 20 < report["runs"] < 1000, (report["runs"], done.stdout)
    # Also where the prompts differ in length.
    slow = idem_test.simulate("--tokens-per-second", "400", "--tokens", "400")
    lengths = "".join(json.dumps({"name": f"p{n}", "prompt": "x", "max_tokens": n}) + "\n" for n in (4, 40, 400))
    began = time.monotonic()
    done, report, _ = evaluate(slow, "--prompts", prompts(lengths), "--cells", "solo-cold", "--runs", "500", "--budget", "4s")
    # The plan is cut to the time, and no block is begun after it: one of 25 runs and the control may be under way.
    assert time.monotonic() - began < 60 and report["runs"] < 100, (report["runs"], time.monotonic() - began)
    seen = raw_upstream.RawUpstream(lambda request: (raw_upstream.sized("{}"), "keep"))
    evaluate(seen.url, "--prompts", prompts(ONE), "--bearer-env", "SECRET", "--model", "m", env={"SECRET": "sk-12345"})
    assert any(b"authorization: bearer sk-12345" in r.lower() for r in seen.requests), seen.requests
    evaluate(seen.url, "--prompts", prompts(ONE), "--bearer-env", "SECRET", "--key-header", "x-api-key", "--model", "m", env={"SECRET": "sk-67890"})
    assert any(b"x-api-key: sk-67890" in r.lower() and b"authorization" not in r.lower() for r in seen.requests), seen.requests
    wrong, _, _ = evaluate(seen.url, "--bearer-env", "NOT_THERE", status=2)
    assert "NOT_THERE" in wrong.stderr
    for words, what in ((["--cells", "solo"], "no cell"), (["--engine", "x"], "no engine"), (["--budget", "soon"], "no time"), (["--preset", "x"], "preset"),
                        (["--prompts", "/nowhere"], "cannot read")):
        wrong, _, _ = evaluate(seen.url, *words, status=2)
        assert what in wrong.stderr, (words, wrong.stderr)


def test_calls_beside_the_runs_have_to_be_answered():
    # An API without chats: its own prompts are the neighbours.
    engine = idem_test.simulate("--engine", "anthropic", "--latency", "5")
    message = "".join(json.dumps({"name": f"m{i}", "path": "/v1/messages", "body": {
        "model": "m", "max_tokens": 20, "temperature": 0, "messages": [{"role": "user", "content": f"question {i}"}]}}) + "\n" for i in range(2))
    _, report, out = evaluate(engine, "--engine", "anthropic", "--prompts", prompts(message), "--cells", "noise,history", "--runs", "30", "--p-max", "0.2",
                              status=0)
    blocks = [b for b in map(json.loads, open(os.path.join(out, "runs.jsonl"), encoding="utf-8")) if "ended_block" in b]
    beside = [b for b in blocks if b["cell"] != "control"]
    assert all(b["others_answered"] > 0 and b["others_failed"] == 0 for b in beside), beside
    # A server that turns all but the prompt away gives no evidence, and is not hammered.
    turned = []

    def answer(request):
        body = json.loads(request.partition(b"\r\n\r\n")[2] or b"{}")
        if "rivers" in json.dumps(body.get("messages", "")):
            said = f"run {time.monotonic_ns()}" if body.get("temperature") else "because"
            time.sleep(0.01)
            return raw_upstream.sized(json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
                {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]})), "keep"
        turned.append(1)
        return raw_upstream.sized("{}", status="429 Too Many Requests"), "keep"

    began = time.monotonic()
    _, report, _ = evaluate(raw_upstream.RawUpstream(answer).url, "--prompts", prompts(ONE), "--cells", "noise", "--runs", "60", "--p-max", "0.2",
                            "--model", "m", status=3)
    assert any("0 were answered" in why for why in report["reasons"]), report["reasons"]
    assert len(turned) < 7 * 110 * (time.monotonic() - began), len(turned)  # seven neighbours, each at most every 10 ms


def test_a_call_that_hangs_does_not_keep_whoever_interrupts():
    engine = idem_test.simulate("--latency", "20")
    out = os.path.join(idem_test.scratch(), "out")
    child = subprocess.Popen([idem_test.BINARY, "eval", "--target", engine.url, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "5000",
                              "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    idem_test.wait_until(lambda: engine.stats()["calls"] > 60, "some blocks are done", 20)
    os.kill(engine.pid, signal.SIGSTOP)
    try:
        time.sleep(0.1)  # a call is under way, and will not be answered
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=30)
        assert time.monotonic() - began < 20, "it waited for the call"
    finally:
        os.kill(engine.pid, signal.SIGCONT)
    report = json.load(open(os.path.join(out, "report.json"), encoding="utf-8"))
    assert child.returncode == 3 and "Interrupted" in said and report["errors"] == 0 and report["runs"] >= 25, (child.returncode, said)


def test_a_fingerprint_that_changes_is_another_environment():
    engine = idem_test.simulate("--engine", "openai", "--latency", "5", "--change-environment-after", "1")
    _, report, _ = evaluate(engine, "--engine", "openai", "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "400", status=4)
    assert any("environment changed" in why for why in report["reasons"]), report["reasons"]


def test_files_that_are_no_evaluation_are_refused_with_2():
    engine = idem_test.simulate()
    _, _, out = evaluate(engine, "--prompts", prompts(ONE), "--cells", "solo-cold", "--runs", "200", status=0)
    assert subprocess.run([idem_test.BINARY, "eval", "baseline", out], capture_output=True, check=False).returncode == 0
    good = json.load(open(os.path.join(out, "baseline.json"), encoding="utf-8"))
    for change, what in ((lambda b: b["manifest"].update(engine="warp"), "no engine"), (lambda b: b["manifest"].update(prompts=[]), "no prompt"),
                         (lambda b: b["manifest"]["prompts"][0].update(runs=-1), "not a number of its kind"), (lambda b: b.pop("outputs"), "not a baseline")):
        bad = json.loads(json.dumps(good))
        change(bad)
        path = os.path.join(idem_test.scratch(), "bad.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(bad, file)
        done = subprocess.run([idem_test.BINARY, "eval", "gate", "--baseline", path, "--target", engine.url, "--out", os.path.join(idem_test.scratch(), "g")],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and what in done.stderr, (done.returncode, done.stderr)
    with open(os.path.join(out, "runs.jsonl"), "a", encoding="utf-8") as file:
        file.write('{"run": -1}\n')
    done = subprocess.run([idem_test.BINARY, "eval", "report", out], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "\"run\" is not a number of its kind" in done.stderr, done


def test_hostile_words_stay_words_in_every_report():
    evil = "</td><script>alert(1)</script>| `x` ]]> & \x01 \u2028"
    count = iter(range(1 << 30))

    def answer(_request):
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": evil, "choices": [
            {"index": 0, "message": {"role": "assistant", "content": f"{evil} {next(count)}"}, "finish_reason": "stop"}]}
        return raw_upstream.sized(json.dumps(body)), "keep"

    upstream = raw_upstream.RawUpstream(answer)
    named = json.dumps({"name": evil, "prompt": "x", "max_tokens": 8}) + "\n"
    _, report, out = evaluate(upstream.url, "--prompts", prompts(named), "--cells", "solo-cold", "--runs", "5", "--model", evil, status=1)
    assert report["model"] == evil
    with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
        page = file.read()
    assert "<script" not in page and "&lt;script&gt;" in page
    with open(os.path.join(out, "report.md"), encoding="utf-8") as file:
        assert "<script" not in file.read()
    xml.etree.ElementTree.parse(os.path.join(out, "junit.xml"))


def test_24_prompts_in_5_cells_with_200_runs_take_less_than_a_minute():
    if not idem_test.LONG:
        raise idem_test.Skip("a minute: with --long")
    engine = idem_test.simulate("--engine", "vllm")
    path = prompts("".join(json.dumps({"name": f"p{i}", "prompt": f"prompt {i}", "max_tokens": 32}) + "\n" for i in range(24)))
    began = time.monotonic()
    _, report, _ = evaluate(engine, "--engine", "vllm", "--prompts", path, "--cells", "solo-cold,solo-hot,burst,noise,form", "--runs", "200")
    took = time.monotonic() - began
    print(f"    {report['runs']} runs in {took:.1f} s")
    assert report["runs"] >= 24_000 and not failed(report) and took < 60, took


idem_test.main(globals())
