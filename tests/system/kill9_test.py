"""kill -9 during writes: after each restart every entry is whole or absent, and none that was complete a second before is lost."""
import contextlib
import json
import os
import pathlib
import sqlite3
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import wire

ROUNDS = 100 if idem_test.LONG else 20


def body(prompt):
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()


def ask(gateway, prompt, headers=None):
    return wire.post(gateway.url, "/v1/chat/completions", body(prompt), headers, timeout=10)


def check_files(data):
    """No file of the store is damaged."""
    files = [path for path in pathlib.Path(data).rglob("*") if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3"]
    assert files, "the embedded store is not where it should be"
    for path in files:
        with contextlib.closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), path


def test_entries_survive_or_are_absent():
    engine = idem_test.simulate("--tokens", "200")
    data = idem_test.scratch("kill-")
    known = {}      # prompt -> (body, when its answer was complete)
    for round_number in range(ROUNDS):
        gateway = idem_test.serve(engine.url, store="embedded", data=data)
        made, stop = {}, threading.Event()

        def write(worker, gateway=gateway, made=made, stop=stop, round_number=round_number):
            n = 0
            while not stop.is_set():
                prompt = f"{round_number}/{worker}/{n}"
                try:
                    answer = ask(gateway, prompt)
                except OSError:
                    return
                if answer.clean and answer.status == 200:
                    made[prompt] = (answer.body, time.monotonic())
                n += 1

        threads = [threading.Thread(target=write, args=(w,)) for w in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(1.3 + (round_number % 5) * 0.07)   # the load itself, not a wait for something
        killed = time.monotonic()
        gateway.kill()
        stop.set()
        for thread in threads:
            thread.join()
        known.update(made)
        check_files(data)
        gateway = idem_test.serve(engine.url, store="embedded", data=data)
        durable = [p for p, (_, when) in made.items() if when < killed - 1]
        recent = [p for p, (_, when) in made.items() if when >= killed - 1]
        assert durable, "nothing was complete a second before the kill"
        for prompt in durable + recent[-50:]:
            answer = ask(gateway, prompt, {"Cache-Control": "only-if-cached"})
            assert answer.status in (200, 504), answer.status
            if answer.status == 200:
                assert answer.body == known[prompt][0], prompt
            else:
                assert prompt not in durable, f"round {round_number}: lost {prompt}"
        assert idem_test.metric(gateway, "idem_store_errors_total", reason="entry_corrupt") == 0
        gateway.kill()


idem_test.main(globals())
