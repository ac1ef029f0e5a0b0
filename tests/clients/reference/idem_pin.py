#!/usr/bin/env python3
"""Which replica a request belongs to, by the rule that upstream/route/pin.hpp states, in another language.

usage: idem_pin.py REQUEST_DIGEST ID[=WEIGHT]…      prints the ids, best first

Needs the package `xxhash`.
"""
import math
import sys

import xxhash


def score(request, replica, weight):
    hashed = xxhash.xxh3_64_intdigest(bytes.fromhex(request) + replica.encode())
    return -math.log(((hashed >> 11) + 0.5) / 2**53) / weight


def ranked(request, replicas):
    """The ids of {id: weight}, best first. Weight 0 is never chosen; ties go to the smaller id."""
    scores = [(score(request, replica, weight), replica.encode()) for replica, weight in replicas.items() if weight]
    return [replica.decode() for _, replica in sorted(scores)]


def main(words):
    replicas = {}
    for word in words[1:]:
        replica, equals, weight = word.rpartition("=")
        replicas[replica if equals else word] = int(weight) if equals else 1
    print("\n".join(ranked(words[0], replicas)))


if __name__ == "__main__":
    main(sys.argv[1:])
