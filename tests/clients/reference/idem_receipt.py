"""Receipts, chains and heads checked as gateway/receipts/README.md describes them, by another implementation: Python's
json and the package cryptography."""
import hashlib
import json

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

END = "-----END PUBLIC KEY-----"


def keys_of(pem):
    """The public keys of a file by their id."""
    keys = {}
    for block in pem.split(END)[:-1]:
        key = load_pem_public_key((block + END).encode())
        raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        keys[hashlib.sha256(raw).hexdigest()[:32]] = key
    return keys


def canonical(value):
    """RFC 8785, for what receipts hold: ASCII names, texts, integers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def opened(text, kind, keys):
    """The statement of a signed text, or None where anything is wrong with it."""
    try:
        whole = json.loads(text)
        statement = whole["statement"]
        if canonical(whole) != text or set(whole) != {"signature", "statement"} or statement["type"] != kind:
            return None
        signature = bytes.fromhex(whole["signature"])
        keys[statement["signer"]].verify(signature, canonical(statement))
        return statement if signature.hex() == whole["signature"] else None  # in lower case
    except (ValueError, KeyError, TypeError, InvalidSignature):
        return None


def good_chain(lines, heads, keys):
    """Whether a chain is whole and ends where its last head says."""
    before, chain, hashes = "0" * 64, None, []
    for n, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError:
            return False
        if canonical(record) != line or record["n"] != n or record["prev"] != before:
            return False
        chain = chain or record["body"]["chain"]
        before = hashlib.sha256(line).hexdigest()
        hashes.append(before)
    covered = 0
    for text in heads:
        head = opened(text, "idem-head/1", keys)
        if head is None or head["chain"] != chain or head["lines"] > len(hashes) or hashes[head["lines"] - 1] != head["last"]:
            return False
        covered = max(covered, head["lines"])
    return covered == len(hashes)
