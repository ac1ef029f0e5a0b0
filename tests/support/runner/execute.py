"""Runs the tests, two at a time, each in a process group of its own with a deadline and a temporary folder of its own."""
import concurrent.futures
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import discover

DEADLINE = {"unit": 300, "component": 600, "system": 900, "clients": 900}  # seconds
LONG_FACTOR = 8
SKIPPED_STATUS = 77

DOCTEST = re.compile(r"^\[doctest\] test cases:\s+(\d+) \|\s+(\d+) passed \|\s+(\d+) failed \|\s+(\d+) skipped", re.M)
SCRIPT = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", re.M)
SKIP_LINE = re.compile(r"^.*\bMESSAGE: SKIPPED\b.*$", re.M)  # as doctest's MESSAGE prints it


@dataclasses.dataclass
class Result:
    test: discover.Test
    passed: int
    failed: int
    skipped: int
    seconds: float
    output: str


def count(test, status, output, timed_out):
    """(passed, failed, skipped): what the test said of itself, never better than its exit status."""
    if test.program:
        found = DOCTEST.search(output)
        if not found:
            return 0, 1, 0
        # Cases that a filter of the command line left out are not skipped tests: none is given here.
        passed, failed = int(found[2]), int(found[3])
        skipped = min(passed, len(SKIP_LINE.findall(output)))
        passed -= skipped
    else:
        if status == SKIPPED_STATUS and not timed_out:
            return 0, 0, 1
        found = None
        for found in SCRIPT.finditer(output):
            pass  # the last one counts
        passed, failed, skipped = (int(found[1]), int(found[2]), int(found[3] or 0)) if found else (int(status == 0), 0, 0)
    if (status != 0 or timed_out) and failed == 0:
        failed = 1
    return passed, failed, skipped


def environment(root, folder, scratch, long_runs):
    values = dict(os.environ)
    values.update(IDEM_SOURCE_DIR=str(root), IDEM_BUILD_DIR=str(folder), IDEM_BINARY=str(folder / "idem"), TMPDIR=scratch,
                  IDEM_TEST_LONG="1" if long_runs else "", PYTHONDONTWRITEBYTECODE="1", NO_COLOR="1",
                  PYTHONPATH=str(root / "tests" / "support" / "python"))
    data = root.parent / "shared" / "data"
    if "IDEM_TEST_DATA" not in values and data.is_dir():
        values["IDEM_TEST_DATA"] = str(data)
    values.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1:strict_string_checks=1")
    values.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    values.setdefault("TSAN_OPTIONS", f"halt_on_error=1:second_deadlock_stack=1:suppressions={root}/tests/support/tsan.supp")
    return values


def command(test):
    if test.program:
        return [str(test.path), "--no-colors"]
    return ["python3" if test.path.suffix == ".py" else "bash", str(test.path)]


def run_one(test, root, folder, long_runs):
    started = time.monotonic()
    limit = DEADLINE[test.kind] * (LONG_FACTOR if long_runs else 1)
    scratch = tempfile.mkdtemp(prefix="idem-test-")
    timed_out = False
    try:
        process = subprocess.Popen(command(test), cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   env=environment(root, folder, scratch, long_runs))
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            timed_out = True
            end_group(process.pid)
            output, _ = process.communicate()
        end_group(process.pid)  # services that a crashed test left behind
        text = output.decode("utf-8", "replace")
        status = process.returncode
    except OSError as error:
        text, status = f"could not be started: {error}\n", 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if timed_out:
        text += f"\ntimed out after {limit} s\n"
    passed, failed, skipped = count(test, status, text, timed_out)
    if status < 0:
        text += f"\nended by signal {signal.Signals(-status).name}\n"
    return Result(test, passed, failed, skipped, time.monotonic() - started, text)


def end_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def show(result):
    word = "FAILED" if result.failed else "passed" if result.passed else "skipped"
    counts = f"{result.passed} passed, {result.failed} failed" + (f", {result.skipped} skipped" if result.skipped else "")
    if result.failed:
        print(f"---- {result.test.name}\n{result.output.rstrip()}\n----")
    print(f"{word:8}{result.test.name:<44}{counts:<32}{result.seconds:7.1f} s", flush=True)


def run_all(tests, root, folder, long_runs):
    results = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        # The slow kinds first, so that the end is not one long test.
        order = sorted((test for test in tests if not test.alone), key=lambda test: -DEADLINE[test.kind])
        futures = [pool.submit(run_one, test, root, folder, long_runs) for test in order]
        for future in concurrent.futures.as_completed(futures):
            results.append(future.result())
            show(results[-1])
    for test in tests:
        if test.alone:
            results.append(run_one(test, root, folder, long_runs))
            show(results[-1])
    return results
