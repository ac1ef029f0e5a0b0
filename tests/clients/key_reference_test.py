#!/usr/bin/env python3
"""The key's specification, read by two other implementations: over generated documents all three say the same.

2,500 documents for each dialect and policy that is looked at, 147,000 in all with --long.
"""
import json
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support" / "python"))
import idem_test  # noqa: E402

DIALECTS = HERE.parent / "golden" / "dialects.json"
NONCES = ["x-anthropic-billing-header: cc_version=2.1.100.7b4; cc_entrypoint=cli; cch=eb6c6;", "x-anthropic-billing-header:",
          "x-anthropic-billing-header:cch=0aaa9;\n", "x-anthropic-billing-header: cch=36ee5; \nBe kind.", "x-anthropic-billing-header: be kind",
          "x-anthropic-billing-header: cch=36ee5", "x-anthropic-billing-header: cch=1;\nx-anthropic-billing-header: cch=2;\n\n"]
FORMATS = ["float", "base64", "int8", "Float"]
COUNT = 21_000 if idem_test.LONG else 2_500

# Characters that sort differently by code point and by UTF-16 unit, need escapes, or look like syntax.
LETTERS = ["a", "b", "Z", "0", " ", "/", "~", "*", "é", "ß", "中", "\ufb33", "\uffff", "😀", "𐀀", "\u2028", "e\u0301", "\u0000", "\u001f",
           "\n", "\t", '"', "\\", "{", "}", "[", ",", ":", "\u007f", "\ufeff"]
# What a policy may make something else of: letters and marks that compose or change places, white space, runs of marks.
PROMPT_LETTERS = ["e", "\u0301", "\u0323", "\u00e9", "\u212b", "\u1100", "\u1161", "\u11a8", "\ufb1d", "\u0958", "\U0001d160", "\u0344", " ", "  ",
                  "\n\n", "\u00a0", "\u0085", "\u1680", "\u2003", "\u2028", "\u202f", "\u205f", "\u3000", "\u200b", "\ufeff", "\u0301\u0323" * 16]
TIDY = {"nfc": True, "collapse_whitespace": True, "trim": True, "strip_pointers": ["/user", "/messages/*/name", "**/z", "/a~1b", "/tools/*/function"]}
NUMBERS = ["0", "-0", "0.0", "-0.0", "0e0", "0E-7", "1", "-1", "1.0", "10e-1", "1e0", "100", "1e2", "0.1", "1e-1", "0.30000000000000004",
           "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740992.0", "9007199254740994.0", "9.007199254740994e15",
           "1e16", "1e21", "1e22", "123456789012345678901234567890", "0.000001", "0.0000001", "1e-7", "1.5e-7", "5e-324", "1e-400",
           "1.7976931348623157e308", "1e308", "2.5", "333333333.33333329", "1E30", "4.50", "2e-3", "1e400", "-1e400", "1" + "0" * 400]


class Writer:
    """Writes one document: members by chance from the dialect's own words and from nowhere, spelled by chance."""

    def __init__(self, rng, words, letters=LETTERS):
        self.rng, self.words, self.letters, self.faulty = rng, words, letters, False

    def space(self):
        return "".join(self.rng.choice(" \t\r") for _ in range(self.rng.choice((0, 0, 0, 1, 2))))

    def text(self):
        return "".join(self.rng.choice(self.letters) for _ in range(self.rng.choice((0, 1, 2, 3, 8))))

    def string(self, text):
        out = []
        for c in text:
            code, way = ord(c), self.rng.random()
            if c in '"\\' or code < 0x20 or way < 0.1:
                short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(c)
                if short and way > 0.05:
                    out.append(short)
                elif code < 0x10000:
                    out.append(f"\\u{code:04x}" if way < 0.5 else f"\\u{code:04X}")
                else:
                    code -= 0x10000
                    out.append(f"\\u{0xd800 + (code >> 10):04x}\\u{0xdc00 + (code & 0x3ff):04x}")
            else:
                out.append(c)
        return '"' + "".join(out) + '"'

    def value(self, depth):
        kind = self.rng.choice("ssnnwao" if depth < 4 else "ssnnw")
        if kind == "s":
            return self.string(self.text())
        if kind == "n":
            number = self.rng.choice(NUMBERS[:-3] if self.faulty or self.rng.random() < 0.97 else NUMBERS)
            self.faulty |= number in NUMBERS[-3:]
            return number
        if kind == "w":
            return self.rng.choice(("true", "false", "null"))
        if kind == "a":
            return "[" + ",".join(self.space() + self.value(depth + 1) + self.space() for _ in range(self.rng.randrange(4))) + "]"
        return self.object(depth + 1)

    def key(self):
        return self.rng.choice(self.words) if self.rng.random() < 0.6 else self.text()

    def object(self, depth, always=()):
        keys = list(dict.fromkeys([*always, *(self.key() for _ in range(self.rng.randrange(6)))]))
        self.rng.shuffle(keys)
        if keys and not self.faulty and self.rng.random() < 0.01:
            keys.append(self.rng.choice(keys))
            self.faulty = True
        members = [self.space() + self.string(k) + self.space() + ":" + self.space()
                   + (self.string("m") if k == "model" and not depth else self.system() if k == "system" and not depth
                      else self.string(self.rng.choice(FORMATS)) if k == "encoding_format" else self.value(depth))
                   + self.space() for k in keys]
        return "{" + ",".join(members) + "}"

    def system(self):
        """A system prompt, in some cases with lines that dialects leave out."""
        texts = [self.rng.choice([*NONCES, self.text()]) + self.rng.choice(("", "", self.text())) for _ in range(self.rng.randrange(4))]
        if len(texts) == 1 and self.rng.random() < 0.5:
            return self.string(texts[0])
        blocks = [f'{{"type":"text","text":{self.string(text)}, "cache_control":[{self.value(3)}]}}' for text in texts]
        return "[" + ",".join([*blocks, self.value(1)]) + "]"

    def document(self):
        self.faulty = False
        text = self.object(0, ("model",)).encode()
        if self.rng.random() < 0.02 and not self.faulty:
            text = self.spoiled(text)
        return text

    def spoiled(self, text):
        """One fault, of a kind that has one reason only."""
        return self.rng.choice((lambda: text + b"x", lambda: text[:-1], lambda: b"[" + text + b"]",
                                lambda: b'{"model":"m","x":"\\ud800"}', lambda: b'{"model":"m","x":"\xff"}', lambda: b'{"model":"m","x":01}',
                                lambda: b'{"model":"m","x":' + b"[" * 256 + b"]" * 256 + b"}",
                                lambda: b'{"model":"m","x":' + b"[" * 255 + b"]" * 255 + b"}"))()


def words_of(dialect):
    """Segments of the rules' pointers: what makes a document meet them."""
    segments = {s.replace("~1", "/").replace("~0", "~") for p in dialect["ignored"] + dialect["order_kept"] for s in p.split("/")}
    return sorted(segments - {"", "*", "**", "model"}) + ["temperature", "messages", "input", "prompt", "content", "role", "system"] + (
        ["encoding_format", "output_dtype", "endianness"] if dialect["name"] == "openai.embeddings" else [])


def answers(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert not done.stderr, done.stderr[-2000:]
    return done.stdout.splitlines()


def check(name, method="", policy=None):
    """`method` is what stands behind the path in the digest; `policy` what a policy changes in bodies."""
    dialect = next(d for d in json.loads(DIALECTS.read_text()) if d["name"] == name)
    rng = random.Random(f"{name} 1")
    writer = Writer(rng, words_of(dialect), LETTERS + PROMPT_LETTERS if policy else LETTERS)
    folder = pathlib.Path(idem_test.scratch("key-"))
    file = folder / "documents"
    documents = [writer.document() for _ in range(COUNT)]
    file.write_bytes(b"".join(d + b"\n" for d in documents))
    configured = []
    if policy:
        configured = ["-c", folder / "idem.yaml"]
        configured[1].write_text(json.dumps({"upstreams": [{"name": "u", "replicas": [{"url": "http://127.0.0.1:1"}]}], "policies": {"tidy": policy},
                                             "routes": [{"upstream": "u", "policy": "tidy"}]}))
    ours = answers([idem_test.BINARY, "key", "--lines", "--path", dialect["path"] + method, *configured, file])
    assert len(ours) == COUNT, len(ours)
    reasons = {line for line in ours if len(line) != 64}
    assert len(set(ours)) > COUNT / 2, "nearly every document is another request"
    assert {"body_not_json", "body_invalid_utf8", "body_duplicate_key", "body_too_deep", "body_number_range"} <= reasons, reasons
    for command in ([sys.executable, HERE / "reference" / "idem_key.py"], ["node", HERE / "reference" / "idem_key.mjs"]):
        theirs = answers([*command, DIALECTS, name, file, *([json.dumps(policy)] if policy else [])])
        assert len(theirs) == COUNT, len(theirs)
        bypassed = {"stateful_call", "time_dependent_call", "side_effecting_call", "missing_model", "form_unsupported", "bad_control"}
        for document, mine, other in zip(documents, ours, theirs):
            assert mine == other or mine in bypassed, (command[1].name, document, mine, other)


def test_chat_under_a_policy_that_changes_bodies():
    check("openai.chat", policy=TIDY)


def test_messages_under_a_policy_that_changes_bodies():
    check("anthropic.messages", policy=TIDY)


def test_chat():
    check("openai.chat")


def test_messages():
    check("anthropic.messages")


def test_embeddings():
    check("openai.embeddings")


def test_responses():
    check("openai.responses")


def test_generate_content():
    check("gemini.generate", ":generateContent")


idem_test.main(globals())
