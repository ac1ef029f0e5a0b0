#!/usr/bin/env python3
"""Includes flow the way requests do: gateway -> cache -> upstream, never back. Ours are written from the root, in quotes, and a
source file's own header comes first."""
import pathlib
import re
import subprocess
import sys

ORDER = ("gateway", "cache", "upstream")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def check(path):
    text = path.read_text(encoding="utf-8")
    top = path.parts[0]
    includes = [(number, *found.groups()) for number, line in enumerate(text.splitlines(), 1) if (found := INCLUDE.match(line))]
    for number, quote, name in includes:
        room = name.split("/")[0]
        if room in ORDER and top in ORDER and ORDER.index(room) < ORDER.index(top):
            yield number, f"{top} must not include {room}: {name}"
        if quote == '"' and not pathlib.Path(name).is_file():
            yield number, f'"{name}" is not a path from the root of the repository'
        if quote == "<" and pathlib.Path(name).is_file():
            yield number, f"<{name}> is ours: write it in quotes"
    if path.suffix == ".cpp":
        own = path.with_suffix(".hpp")
        if own.is_file() and includes and includes[0][2] != own.as_posix():
            yield includes[0][0], f"its own header {own} must be the first include"
    if path.suffix == ".hpp" and top in ORDER and "#pragma once" not in text:
        yield 1, "lacks #pragma once"


def main():
    tracked = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp"], capture_output=True, text=True, check=True).stdout.split()
    findings = 0
    for name in tracked:
        path = pathlib.Path(name)
        if not path.is_file():
            continue
        for line, message in check(path):
            print(f"{path}:{line}: {message}")
            findings += 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
