"""The real engine of tests/support/engine as a process of a test."""
import os
import subprocess

import idem_test

FOLDER = idem_test.ROOT / "tests" / "support" / "engine"


def start(*options):
    """Builds it if need be (minutes, once per machine), starts it, waits until it has loaded its model. .url is its address."""
    subprocess.run([FOLDER / "install"], check=True, stdout=subprocess.DEVNULL, timeout=3600)
    cache = {name: value for name, value in os.environ.items() if name == "IDEM_CACHE"}

    def arguments():
        port = idem_test.free_port()
        return [FOLDER / "run", str(port), *options], [port]

    process = idem_test.start(arguments, lambda it: idem_test.http_ok(f"http://127.0.0.1:{it.ports[0]}", "/health"), "the engine",
                              deadline=60, env=cache)
    process.url = f"http://127.0.0.1:{process.ports[0]}"
    return process
