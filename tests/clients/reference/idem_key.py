"""Idem's request digest, written from the specification in cache/README.md alone.

Short on purpose: what a client in another language needs to reproduce a digest. It shares no code with the program, not
even a JSON parser, since parsers forget what the specification needs: the order of keys, the digits of a number, keys
that come twice.

    python3 idem_key.py DIALECTS.json DIALECT BODIES.ndjson [POLICY]

prints for each line the digest, or the reason for which the request has none. POLICY is JSON: what a policy changes in
bodies, e.g. {"nfc": true, "collapse_whitespace": true, "trim": true, "strip_pointers": ["/metadata/trace_id"]}.
"""
import hashlib
import json
import re
import struct
import sys
import unicodedata

VERSION = b"idem1"
MOST_LEVELS = 256
SPACE = re.compile(r"[ \t\n\r]*")
STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"')
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
ESCAPE = re.compile(r'\\(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)')
NONCE = re.compile(r"\A(?:x-anthropic-billing-header:(?: *[a-z_]+=[A-Za-z0-9._+-]*;)* *(?:\n|\Z))+")
FORMS = ('"float"', '"base64"')
TYPES = ("output_dtype", "embed_dtype", "endianness", "embedding_type", "embedding_types")
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
WHITE_RUN = re.compile(f"[{WHITE_SPACE}]+")
WHITE_ENDS = re.compile(f"\\A[{WHITE_SPACE}]+|[{WHITE_SPACE}]+\\Z")
MOST_MARKS = 30
MUST_ESCAPE = re.compile(r'[\x00-\x1f"\\]')
SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
SHORT_BACK = {value: "\\" + key for key, value in SHORT.items()} | {'"': '\\"', "\\": "\\\\"}


class Refused(Exception):
    pass


def unescape(match):
    what = match.group(1)
    if what[0] != "u":
        return SHORT.get(what, what)
    if len(what) > 5:
        return chr(0x10000 + ((int(what[1:5], 16) & 0x3FF) << 10) + (int(what[7:], 16) & 0x3FF))
    code = int(what[1:], 16)
    if 0xD800 <= code <= 0xDFFF:
        raise Refused("body_invalid_utf8")
    return chr(code)


def quoted(text):
    return '"' + MUST_ESCAPE.sub(lambda m: SHORT_BACK.get(m.group(), f"\\u{ord(m.group()):04x}"), text) + '"'


def number_text(text, fraction, exponent):
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise Refused("body_number_range")
    if not fraction and not exponent:
        return "0" if text == "-0" else text
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # Python's repr has the shortest digits that read back as the same double, as ECMAScript wants them.
    digits, _, ten = repr(abs(value)).partition("e")
    whole, _, part = digits.partition(".")
    all_digits = (whole + part).lstrip("0")
    point = len(whole) + int(ten or 0) if whole.strip("0") else int(ten or 0) - (len(part) - len(part.lstrip("0")))
    all_digits = all_digits.rstrip("0")
    if abs(value) <= 2**53 and point > -6:
        if point <= 0:
            return sign + "0." + "0" * -point + all_digits
        if len(all_digits) <= point:
            return sign + all_digits.ljust(point, "0")
        return sign + all_digits[:point] + "." + all_digits[point:]
    tail = "." + all_digits[1:] if len(all_digits) > 1 else ""
    return f"{sign}{all_digits[0]}{tail}e{point - 1:+d}"


def normalised(text, policy):
    """Prompt text as the policy wants it."""
    if policy.get("nfc"):
        marks = "".join("m" if unicodedata.category(c)[0] == "M" else " " for c in text)
        if "m" * (MOST_MARKS + 1) not in marks:
            text = unicodedata.normalize("NFC", text)
    if policy.get("collapse_whitespace"):
        text = WHITE_RUN.sub(" ", text)
    return WHITE_ENDS.sub("", text) if policy.get("trim") else text


def statements(policy):
    """What the treatment says of such a policy."""
    done = [f"normalise:{name}" for name in ("nfc", "collapse_whitespace", "trim") if policy.get(name)]
    return ["policy:relaxed", "guarantee:none", *done, *(f"strip:{p}" for p in sorted(set(policy.get("strip_pointers", ()))))]


class Canonical:
    """One body's canonical form, or Refused."""

    def __init__(self, rules, policy=None):
        self.policy = policy or {}
        self.stripped = [self.segments(p) for p in self.policy.get("strip_pointers", ())]
        self.prompts = [self.segments(p) for p in rules.get("prompt_text", ())]
        self.ignored = [self.segments(p) for p in rules["ignored"]]
        self.kept = [self.segments(p) for p in rules["order_kept"]]
        self.nonces = rules.get("name", "").startswith("anthropic.")
        self.vectors = rules.get("name", "") == "openai.embeddings"
        self.emptied = False  # a block of `system` in which nothing but nonces stands

    @staticmethod
    def segments(pointer):
        anywhere = pointer.startswith("**/")
        parts = pointer.removeprefix("**/").removeprefix("/").split("/")
        return anywhere, [p.replace("~1", "/").replace("~0", "~") for p in parts]

    @staticmethod
    def named(rules, path):
        for anywhere, parts in rules:
            tail = path[-len(parts):] if anywhere else path
            if len(tail) == len(parts) and all(p == "*" or p == have for p, have in zip(parts, tail)):
                return True
        return False

    def of(self, body):
        try:
            self.text = body.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("body_invalid_utf8") from None
        self.at = 0
        self.skip()
        if self.peek() != "{":
            raise Refused("body_not_json")
        out = self.object((), False)
        self.skip()
        if self.at != len(self.text):
            raise Refused("body_not_json")
        return out

    def skip(self):
        self.at = SPACE.match(self.text, self.at).end()

    def peek(self):
        return self.text[self.at:self.at + 1]

    def take(self, char):
        self.skip()
        if self.peek() != char:
            raise Refused("body_not_json")
        self.at += 1

    def string(self):
        match = STRING.match(self.text, self.at)
        if not match:
            raise Refused("body_not_json")
        self.at = match.end()
        inner = match.group(1)
        return ESCAPE.sub(unescape, inner) if "\\" in inner else inner

    def value(self, path, kept):
        self.skip()
        first = self.peek()
        if first == '"':
            text = self.without_nonce(path, self.string())
            return quoted(normalised(text, self.policy) if self.named(self.prompts, path) else text)
        if first == "{" or first == "[":
            if len(path) >= MOST_LEVELS:
                raise Refused("body_too_deep")
            return self.object(path, kept) if first == "{" else self.array(path, kept)
        for word in ("true", "false", "null"):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return word
        match = NUMBER.match(self.text, self.at)
        if not match:
            raise Refused("body_not_json")
        self.at = match.end()
        return number_text(match.group(), *match.groups())

    def without_nonce(self, path, text):
        rest = NONCE.sub("", text) if self.nonces and path in (("system",), ("system", None, "text")) else text
        self.emptied = self.emptied or (len(path) == 3 and text != rest == "")
        return rest

    def array(self, path, kept):
        self.at += 1
        self.skip()
        items = []
        if self.peek() == "]":
            self.at += 1
            return "[]"
        blocks = path == ("system",)
        while True:
            below = path + (None,)
            self.emptied = self.emptied and not blocks
            item = self.value(below, kept or self.named(self.kept, below))
            if not (blocks and self.emptied):
                items.append(item)
            self.skip()
            if self.peek() == "]":
                self.at += 1
                return "[" + ",".join(items) + "]"
            self.take(",")

    def object(self, path, kept):
        self.at += 1
        self.skip()
        members, seen = [], set()
        if self.peek() == "}":
            self.at += 1
            return "{}"
        while True:
            self.skip()
            key = self.string()
            if key in seen:
                raise Refused("body_duplicate_key")
            seen.add(key)
            self.take(":")
            below = path + (key,)
            text = self.value(below, kept or self.named(self.kept, below))
            left_out = self.named(self.stripped, below) or not kept and self.named(self.ignored, below)
            if not left_out and not (text == "null" and not path):
                members.append((key, text))
            self.skip()
            if self.peek() == "}":
                self.at += 1
                break
            self.take(",")
        if self.vectors and not path and not any(key in TYPES for key, _ in members):
            members = [m for m in members if m[0] != "encoding_format" or m[1] not in FORMS]
        if not kept:
            members.sort(key=lambda m: m[0].encode())
        return "{" + ",".join(quoted(key) + ":" + text for key, text in members) + "}"


def part(tag, data):
    return tag + struct.pack(">Q", len(data)) + data


def treatment(statements):
    return hashlib.sha256(part(b"v", VERSION) + b"".join(part(b"t", s.encode()) for s in statements)).digest()


def request_data(dialect, path, canonical, statements, method="POST", query="", headers=(), sample=0):
    data = part(b"v", VERSION) + part(b"d", dialect.encode()) + part(b"m", method.encode()) + part(b"p", path.encode())
    data += part(b"q", query.encode())
    for name, value in headers:
        data += part(b"h", name.encode()) + part(b"=", value.encode())
    data += part(b"s", struct.pack(">Q", sample)) + part(b"t", treatment(statements)) + part(b"b", canonical.encode())
    return data


def request_digest(*request):
    return hashlib.sha256(request_data(*request)).hexdigest()


def item_digest(item, *request):
    """Of one input of an embeddings call; the canonical body of `request` is the call's without `input`."""
    return hashlib.sha256(request_data(*request) + part(b"I", item.encode())).hexdigest()


def main(dialects, name, bodies, policy="{}"):
    dialect = next(d for d in json.load(open(dialects, encoding="utf-8")) if d["name"] == name)
    policy = json.loads(policy)
    canonical = Canonical(dialect, policy)
    with open(bodies, "rb") as lines:
        for line in lines:
            try:
                text = canonical.of(line.removesuffix(b"\n"))
                print(request_digest(name, dialect["path"], text, statements(policy)))
            except Refused as why:
                print(why)


if __name__ == "__main__":
    main(*sys.argv[1:])
