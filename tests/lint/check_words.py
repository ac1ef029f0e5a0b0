#!/usr/bin/env python3
"""Words that must not be in the tree: marks of unfinished work, clocks and randomness in the I/O-free cores, Asio in the cores,
threads let loose, and namespaces opened in headers."""
import pathlib
import re
import subprocess
import sys

# Folders and files whose decisions take time and randomness as arguments and do no I/O.
CORES = (
    "cache/request/", "cache/policy/", "cache/entry/", "upstream/base/", "upstream/dialect/", "upstream/http/",
    "upstream/route/core", "upstream/determinism/", "cache/redis/session", "cache/redis/breaker", "cache/flight/core",
    "cache/state/state_", "cache/state/bans",
)
SOURCE = (".cpp", ".hpp")
EVERYWHERE = [
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"), "mark of unfinished work"),
    (re.compile(r"(?<![\w.~$}])/(work|home|root)/"), "a path of one machine"),
]
# Pins name a package, a version and a checksum; where it is fetched from is the business of the machine.
IN_LOCKS = [(re.compile(r"https?://|\"resolved\""), "an address in a file of pins")]
LOCKS = re.compile(r"(^|/)(package-lock\.json|tests/clients/python/.*\.txt)$")
IN_SOURCES = [
    (re.compile(r"\.detach\(\)"), "a thread that nobody joins"),
    (re.compile(r"\b(asio|net)::detached\b"), "a coroutine that nobody joins"),
    (re.compile(r"\bsleep_for\(|\bsleep_until\(|\busleep\("), "sleeping: wait for an event, or poll with a deadline"),
]
IN_CORES = [
    (re.compile(r"::now\("), "a core takes the time as an argument"),
    (re.compile(r"\brandom_device\b|\bRAND_bytes\b|\bgetrandom\b|\bmt19937"), "a core takes randomness as an argument"),
    (re.compile(r"#\s*include\s+<boost/(asio/(?!buffer\.hpp)|asio\.hpp|beast\.hpp|beast/(ssl|websocket|core/.*stream))[^>]*>"),
     "a core does no I/O"),
]
IN_HEADERS = [(re.compile(r"^\s*using namespace\b"), "using namespace in a header")]
# Each exception says why.
EXCEPTIONS = {
    "gateway/main.cpp": ("detached",),          # the one owner of what runs until the end of the program
    "cache/store/embedded.cpp": (".detach()",),   # a thread in the system call of a dead disk cannot be joined; it is said aloud
    "cache/store/embedded_file.cpp": ("usleep",),  # flock has no deadline of its own: tried for a second, when the store opens
    "upstream/base/digest.cpp": ("RAND_bytes",),  # the function that shells call to draw an id
}


def rules(path):
    name = path.as_posix()
    yield from EVERYWHERE
    if LOCKS.search(name):
        yield from IN_LOCKS
    if path.suffix in SOURCE:
        if not name.startswith("tests/"):
            yield from IN_SOURCES
        if name.startswith(CORES):
            yield from IN_CORES
    if path.suffix == ".hpp" and not name.startswith("tests/"):
        yield from IN_HEADERS


def main():
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    findings = 0
    for name in tracked:
        path = pathlib.Path(name)
        if not path.is_file() or path.suffix in (".png", ".zst", ".gz", ".bin") or name == "tests/lint/check_words.py":
            continue
        if name.startswith(("tests/fuzz/corpus/", "tests/golden/")):
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        wanted = list(rules(path))
        for number, line in enumerate(lines, 1):
            for pattern, reason in wanted:
                found = pattern.search(line)
                if found and not any(word in line for word in EXCEPTIONS.get(name, ())):
                    print(f"{name}:{number}: {found.group(0).strip()}: {reason}")
                    findings += 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
