"""What the test scripts share: starting the programs on free loopback ports, plain HTTP, waiting with a deadline, cases.

A script is a module with functions named test_*; its last line is `idem_test.main(globals())`. The runner (tests/run) sets
IDEM_BINARY, IDEM_SOURCE_DIR, IDEM_TEST_LONG and a TMPDIR that it removes; started by hand, a script uses build/idem.
"""
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse

ROOT = pathlib.Path(os.environ.get("IDEM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[3]))
BINARY = os.environ.get("IDEM_BINARY", str(ROOT / "build" / "idem"))
LONG = os.environ.get("IDEM_TEST_LONG", "") == "1"
GIVEN = set()  # the ports that free_port() gave to this script
STARTED = []  # every process of this script, ended at its end


class Skip(Exception):
    """Raised by a case that cannot run here; the text says why."""


def free_port():
    """A loopback port that nobody listens on, outside the range the system takes ports of outgoing connections from.
    No port twice: what was given out may not be taken yet."""
    while True:
        port = random.randrange(20000, 32000)
        if port in GIVEN:
            continue
        with contextlib.closing(socket.socket()) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                GIVEN.add(port)
                return port
            except OSError:
                continue


def scratch(prefix="idem-"):
    return tempfile.mkdtemp(prefix=prefix)


def wait_until(condition, what, deadline=10.0, every=0.01):
    """Polls; returns the first true value of `condition`, or raises after `deadline` seconds."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline} s: {what}")
        time.sleep(every)


class Process:
    """A child with its output in a file."""

    def __init__(self, arguments, env=None, preexec=None):
        self.log_path = pathlib.Path(scratch("log-")) / "output"
        self.log_file = self.log_path.open("wb")
        # Without the runner's own variables, which the program would take for keys of its configuration.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("IDEM_")}
        self.child = subprocess.Popen([str(word) for word in arguments], stdin=subprocess.DEVNULL, stdout=self.log_file,
                                      stderr=subprocess.STDOUT, env={**inherited, **(env or {})}, preexec_fn=preexec)
        STARTED.append(self)

    @property
    def pid(self):
        return self.child.pid

    def output(self):
        return self.log_path.read_text("utf-8", "replace")

    def alive(self):
        return self.child.poll() is None

    def signal(self, number):
        if self.alive():
            self.child.send_signal(number)

    def stop(self, deadline=20.0):
        """SIGTERM, then the exit status."""
        self.signal(signal.SIGTERM)
        try:
            return self.child.wait(deadline)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"did not end within {deadline} s of SIGTERM:\n{self.output()[-4000:]}") from None
        finally:
            self.log_file.close()

    def kill(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.child.wait()
        self.log_file.close()


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def __getitem__(self, name):
        return self.headers.get(name)

    def json(self):
        return json.loads(self.body)


def request(url, path="/", method=None, body=None, headers=None, timeout=30.0):
    """One request on a connection of its own. A dict as body is sent as compact JSON."""
    parts = urllib.parse.urlsplit(url)
    headers = dict(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body, separators=(",", ":")).encode()
    if body is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    try:
        connection.request(method or ("GET" if body is None else "POST"), parts.path.rstrip("/") + path, body, headers)
        answer = connection.getresponse()
        return Response(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def listening(port):
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def start(make_arguments, ready, what, deadline=20.0, env=None):
    """Starts a server on free ports; tries others if one was taken meanwhile. `ready(process)` is polled."""
    for attempt in range(3):
        arguments, ports = make_arguments()
        process = Process(arguments, env=env)
        process.ports = ports

        def is_ready(process=process):
            return not process.alive() or ready(process)

        try:
            wait_until(is_ready, what, deadline)
        except AssertionError as error:
            text = process.output()
            process.kill()
            raise AssertionError(f"{error}\n{text[-4000:]}") from None
        if process.alive():
            return process
        if attempt == 2 or "in use" not in process.output():
            raise AssertionError(f"{what}: ended with status {process.child.returncode}:\n{process.output()[-4000:]}")
    raise AssertionError("unreachable")


def simulate(*options):
    """`idem simulate`; .url is its address."""
    def arguments():
        port = free_port()
        return [BINARY, "simulate", "--listen", f"127.0.0.1:{port}", *options], [port]

    process = start(arguments, lambda it: listening(it.ports[0]), "idem simulate")
    process.url = f"http://127.0.0.1:{process.ports[0]}"
    process.stats = lambda: request(process.url, "/simulate/stats").json()
    return process


def redis_server(port=None):
    """A redis-server that keeps nothing on disk; .command(WORD…) sends it one command and returns the raw reply."""
    def arguments():
        chosen = port or free_port()
        return ["redis-server", "--port", str(chosen), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                "--dir", scratch("redis-")], [chosen]

    process = start(arguments, lambda it: listening(it.ports[0]), "redis-server")
    process.url = f"redis://127.0.0.1:{process.ports[0]}"

    def command(*words):
        with socket.create_connection(("127.0.0.1", process.ports[0]), timeout=10) as connection:
            data = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            connection.sendall(b"*%d\r\n" % len(data) + b"".join(b"$%d\r\n%b\r\n" % (len(d), d) for d in data))
            return connection.recv(65536)

    process.command = command
    return process


def http_ok(url, path):
    try:
        return request(url, path, timeout=2).status == 200
    except OSError:
        return False


def serve(upstream=None, *options, store="memory", data=None, config=None, env=None, wait="/readyz"):
    """`idem serve`; .url is the data port, .admin the admin port, .token its token, .data its directory."""
    data = data or scratch("data-")
    admin_token = "test-token-of-this-run"

    def arguments():
        port, admin = free_port(), free_port()
        words = [BINARY, "serve", "--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}", "--data", data]
        if config:
            words += ["-c", config]
        if upstream:
            words += ["--upstream", upstream, "--store", store]
        return [*words, *options], [port, admin]

    process = start(arguments, lambda it: http_ok(f"http://127.0.0.1:{it.ports[1]}", wait), "idem serve",
                    env={"IDEM_ADMIN_TOKEN": admin_token, **(env or {})})
    process.url, process.admin = (f"http://127.0.0.1:{port}" for port in process.ports)
    process.data, process.token = data, admin_token
    return process


def admin(gateway, path, method="GET", body=None):
    """A call of the admin API with the token: the configured one, or the one written to the data directory."""
    file = pathlib.Path(gateway.data) / "admin-token"
    token = file.read_text().strip() if file.exists() else gateway.token
    return request(gateway.admin, path, method, body, {"Authorization": f"Bearer {token}"})


def metric(gateway, name, **labels):
    """The sum of the samples of `name` whose labels include `labels`."""
    total = 0.0
    for line in request(gateway.admin, "/metrics").body.decode().splitlines():
        if line.startswith(name) and line[len(name)] in " {":
            if all(f'{key}="{value}"' in line for key, value in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
    return total


def stop_all():
    for process in reversed(STARTED):
        if process.alive():
            process.kill()
    STARTED.clear()


def main(names):
    """Runs every test_* of `names` (or those named on the command line), prints the closing line, sets the exit status."""
    cases = [(name, case) for name, case in names.items() if name.startswith("test_") and callable(case)]
    if len(sys.argv) > 1:
        cases = [(name, case) for name, case in cases if any(word in name for word in sys.argv[1:])]
    passed = failed = skipped = 0
    for name, case in cases:
        began = time.monotonic()
        try:
            case()
            passed += 1
            print(f"  ok      {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Skip as reason:
            skipped += 1
            print(f"  SKIPPED {name}: {reason}", flush=True)
        except Exception:  # every failure of a case is its result
            failed += 1
            print(f"  FAILED  {name}\n{traceback.format_exc()}", flush=True)
            for process in STARTED:
                print(f"---- output of {' '.join(process.child.args[:2])}, pid {process.pid}\n{process.output()[-3000:]}", flush=True)
        finally:
            stop_all()
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)
    sys.exit(1 if failed or not cases else 0)
