// Idem's request digest, written from the specification in cache/README.md alone; see idem_key.py beside it.
//
//     node idem_key.mjs DIALECTS.json DIALECT BODIES.ndjson [POLICY]
//
// prints for each line the digest, or the reason for which the request has none.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const VERSION = "idem1";
const MOST_LEVELS = 256;
const NONCE = /^(?:x-anthropic-billing-header:(?: *[a-z_]+=[A-Za-z0-9._+-]*;)* *(?:\n|$))+/;
const WHITE_RUN = /[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
const TOO_MANY_MARKS = /\p{M}{31}/u;
const STRING = /"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const SHORT = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const SHORT_BACK = { "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" };

const FORMS = ['"float"', '"base64"'];
const TYPES = ["output_dtype", "embed_dtype", "endianness", "embedding_type", "embedding_types"];

class Refused extends Error {}

function unescape(inner) {
  return inner.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, hex, short) =>
    hex ? String.fromCharCode(parseInt(hex, 16)) : SHORT[short] ?? short);
}

function quoted(text) {
  return '"' + text.replace(/[\x00-\x1f"\\]/g,
    (c) => SHORT_BACK[c] ?? "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) + '"';
}

function numberText(text, fraction, exponent) {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Refused("body_number_range");
  if (!fraction && !exponent) return text === "-0" ? "0" : text;
  if (Math.abs(value) <= 2 ** 53) return String(value === 0 ? 0 : value);
  return value.toExponential().replace(/^(-?\d(?:\.\d+)?)e\+?(-?\d+)$/, (_, digits, ten) => `${digits}e+${ten}`);
}

// Both have the shortest digits; the order of UTF-8 bytes is that of code points, which UTF-16 does not keep.
const byCodePoint = ([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b));

function segments(pointer) {
  const anywhere = pointer.startsWith("**/");
  const parts = pointer.replace(/^(\*\*)?\//, "").split("/").map((p) => p.replaceAll("~1", "/").replaceAll("~0", "~"));
  return { anywhere, parts };
}

function named(rules, path) {
  return rules.some(({ anywhere, parts }) => {
    const tail = anywhere ? path.slice(-parts.length) : path;
    return tail.length === parts.length && parts.every((p, i) => p === "*" || p === tail[i]);
  });
}

function normalised(text, policy) {
  if (policy.nfc && !TOO_MANY_MARKS.test(text)) text = text.normalize("NFC");
  if (policy.collapse_whitespace) text = text.replace(WHITE_RUN, " ");
  if (!policy.trim) return text;
  return text.replace(WHITE_RUN, (run, at) => (at === 0 || at + run.length === text.length ? "" : run));
}

function statements(policy) {
  const done = ["nfc", "collapse_whitespace", "trim"].filter((name) => policy[name]).map((name) => `normalise:${name}`);
  const stripped = [...new Set(policy.strip_pointers ?? [])].sort((a, b) => byCodePoint([a], [b]));
  return ["policy:relaxed", "guarantee:none", ...done, ...stripped.map((pointer) => `strip:${pointer}`)];
}

export class Canonical {
  constructor(rules, policy = {}) {
    this.policy = policy;
    this.stripped = (policy.strip_pointers ?? []).map(segments);
    this.prompts = (rules.prompt_text ?? []).map(segments);
    this.ignored = rules.ignored.map(segments);
    this.kept = rules.order_kept.map(segments);
    this.nonces = (rules.name ?? "").startsWith("anthropic.");
    this.vectors = rules.name === "openai.embeddings";
    this.emptied = false; // a block of `system` in which nothing but nonces stands
  }

  of(body) {
    try {
      this.text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    } catch {
      throw new Refused("body_invalid_utf8");
    }
    this.at = 0;
    this.skip();
    if (this.text[this.at] !== "{") throw new Refused("body_not_json");
    const out = this.object([], false);
    this.skip();
    if (this.at !== this.text.length) throw new Refused("body_not_json");
    return out;
  }

  skip() {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at++;
  }

  take(char) {
    this.skip();
    if (this.text[this.at] !== char) throw new Refused("body_not_json");
    this.at++;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) throw new Refused("body_not_json");
    this.at = pattern.lastIndex;
    return found;
  }

  string() {
    const inner = this.match(STRING)[1];
    if (!inner.includes("\\")) return inner;
    const text = unescape(inner);
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)) {
      throw new Refused("body_invalid_utf8");
    }
    return text;
  }

  value(path, kept) {
    this.skip();
    const first = this.text[this.at];
    if (first === '"') {
      const text = this.withoutNonce(path, this.string());
      return quoted(named(this.prompts, path) ? normalised(text, this.policy) : text);
    }
    if (first === "{" || first === "[") {
      if (path.length >= MOST_LEVELS) throw new Refused("body_too_deep");
      return first === "{" ? this.object(path, kept) : this.array(path, kept);
    }
    for (const word of ["true", "false", "null"]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return word;
      }
    }
    const [text, fraction, exponent] = this.match(NUMBER);
    return numberText(text, fraction, exponent);
  }

  withoutNonce(path, text) {
    const block = path.length === 3 && path[1] === null && path[2] === "text";
    if (!this.nonces || path[0] !== "system" || (path.length !== 1 && !block)) return text;
    const rest = text.replace(NONCE, "");
    this.emptied ||= block && rest === "" && text !== "";
    return rest;
  }

  array(path, kept) {
    const blocks = path.length === 1 && path[0] === "system";
    const items = [];
    const below = [...path, null];
    this.at++;
    this.skip();
    if (this.text[this.at] === "]") {
      this.at++;
      return "[]";
    }
    for (;;) {
      if (blocks) this.emptied = false;
      const item = this.value(below, kept || named(this.kept, below));
      if (!blocks || !this.emptied) items.push(item);
      this.skip();
      if (this.text[this.at] === "]") {
        this.at++;
        return "[" + items.join(",") + "]";
      }
      this.take(",");
    }
  }

  object(path, kept) {
    const members = new Map();
    const seen = new Set();
    this.at++;
    this.skip();
    if (this.text[this.at] === "}") {
      this.at++;
      return "{}";
    }
    for (;;) {
      this.skip();
      const key = this.string();
      if (seen.has(key)) throw new Refused("body_duplicate_key");
      seen.add(key);
      this.take(":");
      const below = [...path, key];
      const text = this.value(below, kept || named(this.kept, below));
      const leftOut = named(this.stripped, below) || (!kept && named(this.ignored, below));
      if (!leftOut && !(text === "null" && path.length === 0)) members.set(key, text);
      this.skip();
      if (this.text[this.at] === "}") {
        this.at++;
        break;
      }
      this.take(",");
    }
    const untyped = this.vectors && path.length === 0 && !TYPES.some((key) => members.has(key));
    if (untyped && FORMS.includes(members.get("encoding_format"))) members.delete("encoding_format");
    const list = [...members];
    if (!kept) list.sort(byCodePoint);
    return "{" + list.map(([key, text]) => quoted(key) + ":" + text).join(",") + "}";
  }
}

class Parts {
  constructor() {
    this.hash = createHash("sha256");
    this.add("v", VERSION);
  }
  add(tag, data) {
    const bytes = Buffer.from(data);
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(bytes.length));
    this.hash.update(tag).update(size).update(bytes);
    return this;
  }
}

export function treatment(said) {
  const parts = new Parts();
  for (const s of said) parts.add("t", s);
  return parts.hash.digest();
}

export function requestDigest({ dialect, path, canonical, treated, method = "POST", query = "", headers = [], sample = 0 }) {
  const parts = new Parts().add("d", dialect).add("m", method).add("p", path).add("q", query);
  for (const [name, value] of headers) parts.add("h", name).add("=", value);
  const index = Buffer.alloc(8);
  index.writeBigUInt64BE(BigInt(sample));
  return parts.add("s", index).add("t", treatment(treated)).add("b", canonical).hash.digest("hex");
}

function lines(bytes) {
  const out = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(10, from);
    out.push(bytes.subarray(from, end < 0 ? bytes.length : end));
    from = end < 0 ? bytes.length : end + 1;
  }
  return out;
}

const [dialects, name, bodies, wanted] = process.argv.slice(2);
if (bodies) {
  const dialect = JSON.parse(readFileSync(dialects, "utf8")).find((d) => d.name === name);
  const policy = JSON.parse(wanted ?? "{}");
  const canonical = new Canonical(dialect, policy);
  const out = lines(readFileSync(bodies)).map((body) => {
    try {
      return requestDigest({ dialect: name, path: dialect.path, canonical: canonical.of(body),
        treated: statements(policy) });
    } catch (why) {
      if (why instanceof Refused) return why.message;
      throw why;
    }
  });
  process.stdout.write(out.join("\n") + "\n");
}
