#!/usr/bin/env python3
"""The key vectors are what a second implementation makes of them.

tests/golden/keys.json holds requests and the canonical form, request digest and key of each. The program's own test
checks the program against them; this one reads cache/README.md's specification in another language and must agree.
`--write` fills the results in for new vectors.
"""
import hashlib
import hmac
import json
import pathlib
import sys

FILE = pathlib.Path(__file__).resolve().parents[1] / "golden" / "keys.json"


def part(tag, data):
    return tag.encode() + len(data).to_bytes(8, "big") + data


def sha256(data):
    return hashlib.sha256(data).digest()


def number(text):
    """A literal's canonical text."""
    if not any(c in text for c in ".eE"):
        return "0" if text == "-0" else text
    value = float(text)
    if value == 0:
        return "0"
    sign, value = ("-", -value) if value < 0 else ("", value)
    mantissa, exponent = f"{value!r}e0".split("e")[:2]  # the shortest digits, and Python's exponent where it wrote one
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent) if whole.strip("0") else int(exponent) - (len(fraction) - len(fraction.lstrip("0")))
    digits = digits.rstrip("0")
    if value <= 2**53 and point > -6:
        if point <= 0:
            return sign + "0." + "0" * -point + digits
        if len(digits) <= point:
            return sign + digits.ljust(point, "0")
        return sign + digits[:point] + "." + digits[point:]
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


class Literal(str):
    """A number as it was written."""


def matches(pointer, path):
    """Whether a rule's pointer names this path; an array element is the segment None."""
    segments = pointer.removeprefix("**/").lstrip("/").split("/")
    if pointer.startswith("**/"):
        path = path[-len(segments):]
    return len(path) == len(segments) and all(s == "*" or s == p for s, p in zip(segments, path))


def canonical(value, rules, path=(), kept=False):
    kept = kept or any(matches(p, path) for p in rules["order_kept"])
    if isinstance(value, Literal):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(v, rules, path + (None,), kept) for v in value) + "]"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    members = []
    for key, inner in value.items() if kept else sorted(value.items()):
        below = path + (key,)
        ignored = not kept and any(matches(p, below) for p in rules["ignored"])
        if not ignored and not (inner is None and not path):
            members.append(json.dumps(key, ensure_ascii=False) + ":" + canonical(inner, rules, below, kept))
    return "{" + ",".join(members) + "}"


def results(v):
    body = canonical(json.loads(v["body"], parse_int=Literal, parse_float=Literal), v["rules"])
    version = part("v", b"idem1")
    treatment = sha256(version + b"".join(part("t", s.encode()) for s in v["treatment"]))
    digest = sha256(
        version
        + part("d", v["dialect"].encode())
        + part("m", v["method"].encode())
        + part("p", v["path"].encode())
        + part("q", v["query"].encode())
        + b"".join(part("h", n.encode()) + part("=", x.encode()) for n, x in v["headers"])
        + part("s", v["sample"].to_bytes(8, "big"))
        + part("t", treatment)
        + part("b", body.encode())
    )
    key = sha256(
        version
        + part("r", digest)
        + part("o", bytes.fromhex(v["scope"]))
        + part("n", v["namespace"].encode())
        + part("u", v["upstream"].encode())
        + part("e", bytes.fromhex(v["epoch"]))
    )
    if v["secret"]:
        key = hmac.new(v["secret"].encode(), key, hashlib.sha256).digest()
    return {"canonical": body, "treatment_digest": treatment.hex(), "request_digest": digest.hex(), "key": key.hex()}


def main():
    golden = json.loads(FILE.read_text())
    faults = 0
    for v in golden["vectors"]:
        wanted = results(v)
        if sys.argv[1:] == ["--write"]:
            v.update(wanted)
            continue
        for name, value in wanted.items():
            if v.get(name) != value:
                print(f"{FILE.name}:1: {v['name']}: {name} is {v.get(name)}, the second implementation says {value}")
                faults += 1
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(json.dumps(golden, indent=1) + "\n")
    return 1 if faults else 0


sys.exit(main())
