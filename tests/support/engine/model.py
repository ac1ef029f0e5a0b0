#!/usr/bin/env python3
"""Writes a tiny language model of random weights in the GGUF format (version 3, architecture "llama"), for tests.

usage: model.py OUT.gguf [--seed N] [--near-tie]

It answers with words that mean nothing, ends its answers by itself now and then, and is the same bytes for the same seed.

With --near-tie its greedy decoding is decided by rounding alone, so that its output at temperature 0 depends on what shares the
batch: the hidden state consists of pairs of equal components, and the output rows of the words come in pairs that read the
two components of each pair in exchanged order. The two logits are equal on paper; in floating point they differ by the order of
summation, which the kernel chooses by the size of the batch.
"""
import argparse
import array
import random
import struct

WIDTH, BLOCKS, HEADS, FEED_FORWARD, CONTEXT = 128, 2, 4, 256, 4096
UNKNOWN, BEGIN, END = 0, 1, 2
SYLLABLES = "ka lo mi ne ru sa to ve".split()
# The shape of Functionary's template (the two strings in its first line tell llama.cpp so): an answer starts with its recipient, `all`
# or a function. With tool_choice "required" that leaves a model of random weights no way round calling a function.
TEMPLATE = """{#- >>>all, >>>${recipient} -#}
{%- for tool in tools or [] %}[tool] {{ tool.function | tojson }}
{% endfor %}
{%- for message in messages %}[{{ message.role }}] {{ message.content or '' }}
{%- for call in message.tool_calls or [] %}>>>{{ call.function.name }}
{{ call.function.arguments }}{% endfor %}
{% endfor %}
{%- if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>

>>>{% if not tools %}all
{% endif %}{% endif %}"""


def vocabulary():
    """(text, score, type) of each token; types as in llama.cpp: 1 normal, 2 unknown, 3 control, 6 byte."""
    yield "<unk>", 0.0, 2
    yield "<s>", 0.0, 3
    yield "</s>", 0.0, 3
    for byte in range(256):
        yield f"<0x{byte:02X}>", 0.0, 6
    singles = ["\u2581"] + [chr(code) for code in range(33, 127)]
    words = ["\u2581" + first + second for first in SYLLABLES for second in SYLLABLES]
    for rank, text in enumerate(singles + words):
        yield text, -1.0 - rank, 1


class Weights:
    """Draws matrices row by row. `twin` maps each hidden component to its equal (near-tie models only)."""

    def __init__(self, seed, near_tie, words, last):
        self.random = random.Random(seed)
        self.words, self.last = words, last
        self.twin = None
        self.constant = [0]
        if near_tie:
            shuffled = self.random.sample(range(WIDTH), WIDTH)
            self.twin = [0] * WIDTH
            for one, other in zip(shuffled[0::2], shuffled[1::2]):
                self.twin[one], self.twin[other] = other, one
            self.constant.append(self.twin[0])

    def row(self, length, deviation):
        return [self.random.gauss(0, deviation) for _ in range(length)]

    def plain(self, columns, rows, deviation):
        return [self.row(columns, deviation) for _ in range(rows)]

    def into_hidden(self, columns, deviation):
        """A matrix whose output is added to the hidden state: nothing to the constant components; twins get the same row."""
        rows = self.plain(columns, WIDTH, deviation)
        if self.twin:
            rows = [rows[min(i, self.twin[i])] for i in range(WIDTH)]
        for i in self.constant:
            rows[i] = [0.0] * columns
        return rows

    def embedding(self, tokens):
        """With constant components, so that the output rows can prefer tokens and avoid others, whatever was said before."""
        rows = self.plain(WIDTH, tokens, 1.0)
        if self.twin:
            rows = [[row[min(i, self.twin[i])] for i in range(WIDTH)] for row in rows]
        for row in rows:
            for i in self.constant:
                row[i] = 3.0
        return rows

    def output(self, tokens):
        """Only words are said by themselves. Bytes and single characters have the last places, and `a` the very last: it is only
        chosen where a grammar leaves nothing else. The end comes now and then."""
        rows = [[0.0] * WIDTH for _ in range(tokens)]
        rows[END] = self.row(WIDTH, 0.25)
        for at in range(0, len(self.words), 2):
            row = self.row(WIDTH, 0.3)
            rows[self.words[at]] = row
            rows[self.words[at + 1]] = [row[self.twin[i]] for i in range(WIDTH)] if self.twin else self.row(WIDTH, 0.3)
        said = {END, *self.words}
        for token, row in enumerate(rows):
            for i in self.constant:
                row[i] = 0.0 if token in said else -20.0 if token in self.last else -10.0
        return rows


class File:
    """The three parts of a GGUF file: metadata, descriptions of the tensors, data aligned to 32 bytes."""
    ALIGNMENT = 32

    def __init__(self):
        self.metadata, self.tensors, self.data = [], [], b""

    @staticmethod
    def text(value):
        raw = value.encode()
        return struct.pack("<Q", len(raw)) + raw

    def put(self, key, kind, payload):
        self.metadata.append(self.text(key) + struct.pack("<I", kind) + payload)

    def integer(self, key, value):
        self.put(key, 4, struct.pack("<I", value))

    def real(self, key, value):
        self.put(key, 6, struct.pack("<f", value))

    def flag(self, key, value):
        self.put(key, 7, struct.pack("<?", value))

    def string(self, key, value):
        self.put(key, 8, self.text(value))

    def strings(self, key, values):
        self.put(key, 9, struct.pack("<IQ", 8, len(values)) + b"".join(map(self.text, values)))

    def integers(self, key, values):
        self.put(key, 9, struct.pack(f"<IQ{len(values)}i", 5, len(values), *values))

    def reals(self, key, values):
        self.put(key, 9, struct.pack(f"<IQ{len(values)}f", 6, len(values), *values))

    def tensor(self, name, rows):
        """A matrix as a list of rows, or a vector as a list of numbers; stored as 32-bit floats."""
        shape = [len(rows[0]), len(rows)] if isinstance(rows[0], list) else [len(rows)]
        flat = [value for row in rows for value in row] if len(shape) == 2 else rows
        self.tensors.append(self.text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(self.data)))
        raw = array.array("f", flat).tobytes()
        self.data += raw + bytes(-len(raw) % self.ALIGNMENT)

    def write(self, path):
        head = struct.pack("<4sIQQ", b"GGUF", 3, len(self.tensors), len(self.metadata)) + b"".join(self.metadata + self.tensors)
        with open(path, "wb") as file:
            file.write(head + bytes(-len(head) % self.ALIGNMENT) + self.data)


def describe(file, tokens, near_tie):
    file.string("general.architecture", "llama")
    file.string("general.name", "idem-near-tie" if near_tie else "idem-random")
    file.integer("general.file_type", 0)
    for key, value in {"context_length": CONTEXT, "embedding_length": WIDTH, "block_count": BLOCKS, "feed_forward_length": FEED_FORWARD,
                       "attention.head_count": HEADS, "attention.head_count_kv": HEADS, "rope.dimension_count": WIDTH // HEADS,
                       "vocab_size": len(tokens)}.items():
        file.integer("llama." + key, value)
    file.real("llama.attention.layer_norm_rms_epsilon", 1e-5)
    file.string("tokenizer.ggml.model", "llama")
    file.strings("tokenizer.ggml.tokens", [text for text, _, _ in tokens])
    file.reals("tokenizer.ggml.scores", [score for _, score, _ in tokens])
    file.integers("tokenizer.ggml.token_type", [kind for _, _, kind in tokens])
    file.integer("tokenizer.ggml.unknown_token_id", UNKNOWN)
    file.integer("tokenizer.ggml.bos_token_id", BEGIN)
    file.integer("tokenizer.ggml.eos_token_id", END)
    file.flag("tokenizer.ggml.add_bos_token", True)
    file.string("tokenizer.chat_template", TEMPLATE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--near-tie", action="store_true")
    options = parser.parse_args()

    tokens = list(vocabulary())
    words = [index for index, (text, _, kind) in enumerate(tokens) if kind == 1 and len(text) > 1]
    last = {index for index, (text, _, _) in enumerate(tokens) if text in ("a", "<0x61>")}
    weights = Weights(options.seed, options.near_tie, words, last)
    file = File()
    describe(file, tokens, options.near_tie)
    file.tensor("token_embd.weight", weights.embedding(len(tokens)))
    for block in range(BLOCKS):
        name = f"blk.{block}."
        file.tensor(name + "attn_norm.weight", [1.0] * WIDTH)
        for part in ("q", "k", "v"):
            file.tensor(f"{name}attn_{part}.weight", weights.plain(WIDTH, WIDTH, 0.12))
        file.tensor(name + "attn_output.weight", weights.into_hidden(WIDTH, 0.12))
        file.tensor(name + "ffn_norm.weight", [1.0] * WIDTH)
        file.tensor(name + "ffn_gate.weight", weights.plain(WIDTH, FEED_FORWARD, 0.12))
        file.tensor(name + "ffn_up.weight", weights.plain(WIDTH, FEED_FORWARD, 0.12))
        file.tensor(name + "ffn_down.weight", weights.into_hidden(FEED_FORWARD, 0.09))
    file.tensor("output_norm.weight", [1.0] * WIDTH)
    file.tensor("output.weight", weights.output(len(tokens)))
    file.write(options.out)


if __name__ == "__main__":
    main()
