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

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "clients" / "reference"))
from idem_key import VERSION, Canonical, item_digest, part, request_digest, treatment  # noqa: E402

FILE = TESTS / "golden" / "keys.json"


def results(v):
    body = Canonical(v["rules"], v.get("changes")).of(v["body"].encode("utf-8"))
    digest = request_digest(v["dialect"], v["path"], body, v["treatment"], v["method"], v["query"], v["headers"], v["sample"])
    key = hashlib.sha256(
        part(b"v", VERSION)
        + part(b"r", bytes.fromhex(digest))
        + part(b"o", bytes.fromhex(v["scope"]))
        + part(b"n", v["namespace"].encode())
        + part(b"u", v["upstream"].encode())
        + part(b"e", bytes.fromhex(v["epoch"]))
    ).digest()
    if v["secret"]:
        key = hmac.new(v["secret"].encode(), key, hashlib.sha256).digest()
    return {"canonical": body, "treatment_digest": treatment(v["treatment"]).hex(), "request_digest": digest, "key": key.hex()}


def item_results(v):
    request = (v["dialect"], v["path"], v["rest"], v["treatment"], v["method"], v["query"], v["headers"], v["sample"])
    return {"item_digests": [item_digest(item, *request) for item in v["items"]]}


def main():
    golden = json.loads(FILE.read_text())
    faults = 0
    for v in golden["vectors"] + golden["batches"]:
        wanted = item_results(v) if "items" in v else results(v)
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
