#!/usr/bin/env python3
"""The command line as somebody meets it who has just built the program."""
import os
import pathlib
import pty
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test

REQUEST = '{"model":"m","messages":[{"role":"user","content":"hi"}]}'


def idem(*words, env=None, stdin=""):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("IDEM_")}
    return subprocess.run([idem_test.BINARY, *words], input=stdin, capture_output=True, text=True, timeout=60, check=False,
                          env={**inherited, **(env or {})})


def test_what_is_in_force_loads_again():
    folder = pathlib.Path(idem_test.scratch())
    file, secrets = folder / "effective.yaml", {"IDEM_ADMIN_TOKEN": "a-token-of-this-test"}
    shown = idem("config", "effective", str(idem_test.ROOT / "conf" / "examples" / "openai.yaml"), env=secrets)
    assert shown.returncode == 0 and "a-token" not in shown.stdout, shown
    file.write_text(shown.stdout)
    checked = idem("check", str(file), env=secrets)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, f"{file}: good\n", ""), checked
    assert idem("config", "effective", "-c", str(file), env=secrets).stdout == shown.stdout


def test_a_configuration_that_is_no_file():
    checked = idem("check", "-c", "/")
    assert (checked.returncode, checked.stdout) == (1, "/: is a directory; expected a file\n"), checked
    checked = idem("check", "/no/such/file")
    assert (checked.returncode, checked.stdout) == (1, "/no/such/file: there is no such file\n"), checked


def test_key_reads_a_terminal_aloud():
    ours, theirs = pty.openpty()
    with subprocess.Popen([idem_test.BINARY, "key"], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        os.close(theirs)
        assert "Ctrl-D" in child.stderr.readline()
        os.write(ours, REQUEST.encode() + b"\n\x04")
        out, _ = child.communicate(timeout=30)
    os.close(ours)
    assert "verdict    cacheable" in out, out


def test_key_is_silent_in_a_pipe():
    done = idem("key", stdin=REQUEST)
    assert done.returncode == 0 and done.stderr == "", done
    done = idem("key", "/")
    assert (done.returncode, done.stderr) == (1, "idem: / cannot be read as a file\n"), done


def test_key_of_every_line():
    lines = [REQUEST, "nonsense", REQUEST.replace(",", " , ")]
    done = idem("key", "--lines", stdin="\n".join(lines))
    first, second, third = done.stdout.splitlines()
    assert (first, second, done.returncode) == (third, "body_not_json", 1) and len(first) == 64, done
    assert first in idem("key", stdin=REQUEST).stdout


def test_explain():
    folder = pathlib.Path(idem_test.scratch())
    (folder / "a").write_text(REQUEST)
    done = idem("explain", str(folder / "a"), "-", stdin=REQUEST.replace(",", " , "))
    assert done.returncode == 0 and "same       yes" in done.stdout, done
    (folder / "b").write_text('{"model":"m","seed":7,"user":"u","messages":[{"role":"user","content":"ho"}]}')
    done = idem("explain", str(folder / "a"), str(folder / "b"))
    assert done.returncode == 1, done
    for line in ("same       no", "changed  /messages/0/content", '  A: "hi"', '  B: "ho"', "only in B  /seed"):
        assert line in done.stdout, (line, done.stdout)
    assert "/user" not in done.stdout, done.stdout
    done = idem("explain", str(folder / "a"), "-", stdin="[]")
    assert done.returncode == 1 and "bypass: body_not_json" in done.stdout, done


def test_healthcheck():
    port = idem_test.free_port()
    done = idem("healthcheck", "--address", f"127.0.0.1:{port}")
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    assert f"nothing listens on 127.0.0.1:{port}" in done.stderr, done
    gateway = idem_test.serve(idem_test.simulate().url)
    done = idem("healthcheck", "--address", gateway.admin.removeprefix("http://"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done


idem_test.main(globals())
