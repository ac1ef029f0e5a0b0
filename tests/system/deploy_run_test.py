#!/usr/bin/env python3
"""The README's first command: a MISS, a HIT with the same digest, two lines for the application, a clean end."""
# runner: alone
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test

BUILD = pathlib.Path(idem_test.BINARY).parent


def as_from_a_terminal():
    """A process group of its own, and Ctrl-C not ignored, as it is below a shell that runs this in the background."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(*options, env=None):
    """deploy/run as a terminal would start it."""
    if BUILD != idem_test.ROOT / "build":
        raise idem_test.Skip("deploy/run builds into build/, these tests run from elsewhere")
    return idem_test.Process([idem_test.ROOT / "deploy" / "run", "--data", idem_test.scratch("data-"), *options], env=env, preexec=as_from_a_terminal)


def interrupt(process):
    """Ctrl-C: the whole group gets it. Nothing may be left running afterwards."""
    os.killpg(process.pid, signal.SIGINT)
    process.child.wait(20)

    def gone():
        try:
            os.killpg(process.pid, 0)
            return False
        except ProcessLookupError:
            return True

    idem_test.wait_until(gone, "both programs end")


def test_tries_out_idem():
    process = started()
    try:
        idem_test.wait_until(lambda: not process.alive() or "OPENAI_API_KEY" in process.output(), "it serves", deadline=300)
        text = process.output()
        assert process.alive(), text
        rows = re.findall(r"^  (MISS|HIT) +([\d.]+) ms +body sha256 ([0-9a-f]{16})… +Idem-Key ([0-9a-f]{16})…$", text, re.M)
        assert [row[0] for row in rows] == ["MISS", "HIT"], text
        assert rows[0][2:] == rows[1][2:], text
        assert float(rows[1][1]) < float(rows[0][1]), text
        base = re.search(r"^  export OPENAI_BASE_URL=(\S+)$", text, re.M).group(1)
        assert idem_test.request(base, "/models").status == 200
    finally:
        if process.alive():
            interrupt(process)


def test_takes_another_port_where_one_is_busy():
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8080))
        except OSError:
            pass  # then somebody else has it, which is as good
        else:
            taken.listen()
        engine = idem_test.simulate()
        process = started("--upstream", engine.url)
        try:
            idem_test.wait_until(lambda: not process.alive() or "Idem serves" in process.output(), "it serves", deadline=300)
            text = process.output()
            assert "port 8080 is busy" in text, text
            url, admin = re.search(r" on (http://\S+) \(admin: (http://\S+),", text).groups()
            # Not before it does.
            assert idem_test.http_ok(admin, "/readyz") and idem_test.http_ok(url, "/v1/models"), text
        finally:
            if process.alive():
                interrupt(process)


def test_shows_why_the_gateway_does_not_start():
    process = started("--upstream", "nonsense")
    assert process.child.wait(300) == 1
    text = process.output()
    assert "is not a URL" in text and "did not start" in text and "Idem serves" not in text, text


def test_ctrl_c_before_anything_has_started():
    # A python3 that hangs: what looks for free ports is at work when the signal comes.
    shims = pathlib.Path(idem_test.scratch("shims-"))
    # Not a shell: one may lose a signal that comes while it starts a child or goes to sleep.
    (shims / "python3").write_text(f"#!/usr/bin/perl\nopen(my $called, '>', '{shims}/called'); close($called); sleep 60;\n")
    (shims / "python3").chmod(0o755)
    process = started(env={"PATH": f"{shims}:{os.environ['PATH']}"})
    idem_test.wait_until(lambda: not process.alive() or (shims / "called").exists(), "it looks for a port", deadline=300)
    interrupt(process)
    assert process.child.returncode == 130, process.output()
    assert "trap" not in process.output(), process.output()


def test_refuses_an_option_without_its_value():
    done = subprocess.run([idem_test.ROOT / "deploy" / "run", "--upstream"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "needs a value" in done.stderr, done


idem_test.main(globals())
