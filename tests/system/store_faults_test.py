"""A store that is full, read-only, corrupt or from a newer Idem never fails a request; it is said aloud, and it heals."""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test
import wire


def ask(gateway, prompt, headers=None):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
    answer = wire.post(gateway.url, "/v1/chat/completions", body, headers)
    return answer


def served_from_memory(gateway, label):
    first, second = ask(gateway, label), ask(gateway, label)
    assert first.status == 200 and first.headers["x-cache"] == "MISS", first.headers
    assert second.headers["x-cache"] == "HIT" and second.headers["cache-status"].endswith("detail=memory"), second.headers


def verbose(gateway):
    return idem_test.request(gateway.admin, "/readyz?verbose").body.decode()


class Mount:
    """A small file system of its own."""

    def __init__(self, options):
        self.path = idem_test.scratch("mount-")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", self.path], capture_output=True, text=True)
        if done.returncode:
            raise idem_test.Skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")

    def remount(self, options):
        subprocess.run(["mount", "-o", f"remount,{options}", self.path], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        idem_test.stop_all()
        subprocess.run(["umount", "-l", self.path], check=False)


def test_full_disk_and_back():
    engine = idem_test.simulate("--tokens", "50")
    with Mount("size=3m") as disk:
        gateway = idem_test.serve(engine.url, store="embedded", data=disk.path)
        assert ask(gateway, "first").status == 200
        filler = pathlib.Path(disk.path) / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        for n in range(300):
            answer = ask(gateway, f"full {n}")
            assert answer.status == 200, answer.body
        served_from_memory(gateway, "while full")
        idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_store_errors_total") > 0, "the failure is counted")
        idem_test.wait_until(lambda: "embedded" in verbose(gateway) and "full" in verbose(gateway), "it is said in /readyz?verbose")
        filler.unlink()
        n = [0]

        def stored():
            n[0] += 1
            before = idem_test.metric(gateway, "idem_stored_total", tier="embedded")
            ask(gateway, f"again {n[0]}")
            return idem_test.metric(gateway, "idem_stored_total", tier="embedded") > before

        idem_test.wait_until(stored, "writing resumes by itself", 10, 0.2)


def test_read_only_directory():
    engine = idem_test.simulate()
    with Mount("size=8m") as disk:
        gateway = idem_test.serve(engine.url, store="embedded", data=disk.path)
        assert ask(gateway, "kept").headers["x-cache"] == "MISS"
        assert gateway.stop() == 0
        disk.remount("ro")
        gateway = idem_test.serve(engine.url, "--set", "admin.token=t", store="embedded", data=disk.path)
        served_from_memory(gateway, "read only")


def test_directory_that_cannot_be_made():
    engine = idem_test.simulate()
    gateway = idem_test.serve(engine.url, store="embedded", data="/proc/no/such/place")
    served_from_memory(gateway, "nowhere")
    lines = [line for line in gateway.output().splitlines() if " warn storage: " in line]
    assert len(lines) == 1 and "/proc/no/such/place does not work as a store" in lines[0], gateway.output()
    assert "Requests are served; answers are kept in memory (256MiB) only" in lines[0], lines


def test_relative_directory_is_named_in_full():
    engine = idem_test.simulate()
    name = os.path.relpath(idem_test.scratch("data-"))
    gateway = idem_test.serve(engine.url, store="embedded", data=name)
    assert f"and in {os.path.abspath(name)} (4GiB)" in gateway.output(), gateway.output()


def test_corrupt_file_is_set_aside():
    engine = idem_test.simulate()
    data = pathlib.Path(idem_test.scratch("data-"))
    (data / "idem.db").write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    gateway = idem_test.serve(engine.url, store="embedded", data=str(data))
    served_from_memory(gateway, "corrupt")
    idem_test.wait_until(lambda: list(data.glob("idem.db.corrupt-*")), "the old file is kept aside")
    idem_test.wait_until(lambda: idem_test.metric(gateway, "idem_stored_total", tier="embedded") > 0 or ask(gateway, os.urandom(4).hex()) is None,
                         "a new file is in use", 10, 0.2)


def test_newer_file_is_left_alone():
    engine = idem_test.simulate()
    data = pathlib.Path(idem_test.scratch("data-"))
    base = sqlite3.connect(data / "idem.db")
    base.executescript("PRAGMA application_id=0; PRAGMA user_version=999; CREATE TABLE future(x); INSERT INTO future VALUES(42);")
    base.close()
    gateway = idem_test.serve(engine.url, store="embedded", data=str(data))
    served_from_memory(gateway, "newer")
    assert gateway.stop() == 0
    base = sqlite3.connect(data / "idem.db")
    assert base.execute("SELECT x FROM future").fetchone() == (42,)


def test_entries_outlive_the_process():
    engine = idem_test.simulate()
    data = idem_test.scratch("data-")
    gateway = idem_test.serve(engine.url, store="embedded", data=data)
    first = ask(gateway, "kept")
    assert gateway.stop() == 0
    gateway = idem_test.serve(engine.url, store="embedded", data=data)
    second = ask(gateway, "kept")
    assert second.headers["x-cache"] == "HIT" and second.headers["cache-status"].endswith("detail=embedded"), second.headers
    assert first.body == second.body
    assert ask(gateway, "kept").headers["cache-status"].endswith("detail=memory")


def test_deleting_an_entry_deletes_it_everywhere():
    engine = idem_test.simulate()
    gateway = idem_test.serve(engine.url, store="embedded")
    key = ask(gateway, "gone").headers["idem-key"]
    found = idem_test.admin(gateway, f"/admin/v1/entries/{key}")
    assert found.status == 200 and found.json()["key"] == key, found.body
    assert idem_test.admin(gateway, f"/admin/v1/entries/{key}", "DELETE").status == 200
    assert idem_test.admin(gateway, f"/admin/v1/entries/{key}").status == 404
    assert idem_test.admin(gateway, f"/admin/v1/entries/{key}", "DELETE").status == 404
    assert ask(gateway, "gone").headers["x-cache"] == "MISS"


idem_test.main(globals())
