"""Idem's measures beside those of sacreBLEU, RapidFuzz and SciPy: 10,000 random cases, equal to 1e-9.

The program that answers is the first word of the command line.
"""
import math
import random
import subprocess
import sys

import sacrebleu
import scipy.stats
from rapidfuzz.distance import Levenshtein

CLOSE = 1e-9
rng = random.Random(20261201)
LETTERS = ["a", "b", "Z", "9", "_", " ", "  ", "\n", ".", ",", "é", "ß", "中", "文", "の", "한", "🙂", "‍", "ก", "\u0301", "\t", "\u2028", "\x00", "\x7f"]


def ask(lines):
    done = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    out = [[float(n) for n in line.split()] for line in done.stdout.splitlines()]
    assert len(out) == len(lines), (len(out), len(lines))
    return out


def near(ours, theirs, what):
    assert abs(ours - theirs) <= CLOSE, (what, ours, theirs)


def related(a, alphabet):
    """Another list: an edited copy, the same, or one of its own."""
    b = list(a)
    how = rng.random()
    if how < 0.1:
        return b
    if how < 0.2:
        return [rng.randrange(alphabet) for _ in range(rng.randrange(80))]
    if how < 0.3:
        return b[:rng.randrange(len(b) + 1)]
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(b) + 1)
        b[at:at + rng.randrange(3)] = [rng.randrange(alphabet) for _ in range(rng.randrange(3))]
    return b


def test_lists_of_tokens():
    bleu = sacrebleu.BLEU(tokenize="none", smooth_method="exp", effective_order=True)
    cases = [([], []), ([1], [1]), ([1], []), ([], [1]), ([1], [2]), ([1, 2, 3, 4], [1, 2, 3, 4]), ([5] * 200, [5] * 100)]
    while len(cases) < 10_000:
        alphabet = rng.choice([2, 5, 50, 50_000])
        a = [rng.randrange(alphabet) for _ in range(rng.choice([0, 1, 2, 3, 5, 20, 70, 150]))]
        cases.append((a, related(a, alphabet)))
    written = [" ".join(["lists"] + [",".join(map(str, side)) or "-" for side in case]) for case in cases]
    for (a, b), (distance, alike, forth, back, both) in zip(cases, ask(written)):
        theirs = Levenshtein.distance(a, b)
        assert distance == theirs, (a, b, distance, theirs)
        near(alike, Levenshtein.normalized_similarity(a, b), (a, b))
        words = [" ".join(map(str, side)) for side in (a, b)]
        if a and b:
            there, here = (min(bleu.sentence_score(x, [y]).score / 100, 1) for x, y in (words, reversed(words)))
            near(forth, there, (a, b))
            near(back, here, (a, b))
            near(both, 1 if a == b else (there + here) / 2, (a, b))
        else:
            assert both == (1 if a == b else 0), (a, b, both)
    assert str(bleu.get_signature()) == "nrefs:1|case:mixed|eff:yes|tok:none|smooth:exp|version:2.6.0", bleu.get_signature()


def test_texts():
    cases = [("", ""), ("a", ""), ("", "中"), ("🙂", "🙂")]
    while len(cases) < 10_000:
        a = [rng.choice(LETTERS) for _ in range(rng.choice([0, 1, 4, 30, 100]))]
        b = ["".join(LETTERS[i % len(LETTERS)]) for i in related([LETTERS.index(c) for c in a], len(LETTERS))]
        cases.append(("".join(a), "".join(b)))
    written = [f"texts {a.encode().hex() or '-'} {b.encode().hex() or '-'}" for a, b in cases]
    for (a, b), (distance, length, whole, parts) in zip(cases, ask(written)):
        assert distance == Levenshtein.distance(a, b), (a, b, distance)
        assert length == len(a) and whole == 1, (a, length)
        first = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        assert parts == (-1 if a == b else first), (a, b, parts, first)


def test_bounds():
    cases = [(0, 200, 0.95), (1, 200, 0.95), (200, 200, 0.99), (0, 1, 0.5), (1, 1, 0.95)]
    while len(cases) < 4_000:
        runs = rng.choice([1, 2, 10, 30, 200, 1000, 30_000])
        flips = rng.choice([0, 1, runs, rng.randrange(runs + 1), rng.randrange(min(runs, 10) + 1)])
        cases.append((flips, runs, rng.choice([0.5, 0.9, 0.95, 0.99, 0.999])))
    for (flips, runs, confidence), (upper, low, high, wilson_low, wilson_high) in zip(cases, ask([f"binomial {k} {n} {c}" for k, n, c in cases])):
        near(upper, 1 if flips == runs else scipy.stats.beta.ppf(confidence, flips + 1, runs - flips), (flips, runs, confidence))
        seen = scipy.stats.binomtest(flips, runs)
        exact = seen.proportion_ci(confidence, "exact")
        near(low, exact.low, (flips, runs, confidence))
        near(high, exact.high, (flips, runs, confidence))
        wilson = seen.proportion_ci(confidence, "wilson")
        near(wilson_low, wilson.low, (flips, runs, confidence))
        near(wilson_high, wilson.high, (flips, runs, confidence))


def test_how_many_runs_it_takes():
    cases = [(rng.choice([0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, rng.random() * 0.5 + 1e-4]), rng.choice([0.5, 0.9, 0.95, 0.99])) for _ in range(500)]
    for (bound, confidence), (runs,) in zip(cases, ask([f"need {b!r} {c}" for b, c in cases])):
        holds = [1 - (1 - confidence) ** (1 / n) for n in (runs, runs - 1) if n]
        assert holds[0] <= bound * (1 + 1e-12) and (runs == 1 or holds[1] > bound * (1 - 1e-12)), (bound, confidence, runs)


def test_two_conditions():
    cases = [(0, 200, 0, 200), (5, 200, 0, 200)]
    while len(cases) < 1_500:
        a, b = rng.choice([1, 5, 30, 200]), rng.choice([1, 5, 30, 200])
        cases.append((rng.randrange(a + 1), a, rng.randrange(b + 1), b))
    for (k, n, i, m), (p,) in zip(cases, ask([f"fisher {k} {n} {i} {m}" for k, n, i, m in cases])):
        near(p, min(scipy.stats.fisher_exact([[k, n - k], [i, m - i]]).pvalue, 1), (k, n, i, m))


def test_spread():
    cases = [[200], [1], [199, 1], [1] * 200]
    while len(cases) < 2_000:
        cases.append([rng.randrange(1, rng.choice([2, 5, 200])) for _ in range(rng.randrange(1, 40))])
    for case, (unique, modal, flips, agreement, entropy) in zip(cases, ask(["counts " + ",".join(map(str, c)) for c in cases])):
        runs = sum(case)
        assert unique == len(case), case
        near(modal, max(case) / runs, case)
        near(flips, 1 - max(case) / runs, case)
        near(entropy, scipy.stats.entropy(case, base=2), case)
        near(agreement, 1 if runs == 1 else math.fsum(math.comb(c, 2) for c in case) / math.comb(runs, 2), case)


passed = failed = 0
for name, case in sorted((n, c) for n, c in globals().items() if n.startswith("test_")):
    try:
        case()
        passed += 1
        print(f"  ok      {name}", flush=True)
    except AssertionError as error:
        failed += 1
        print(f"  FAILED  {name}: {error}", flush=True)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
