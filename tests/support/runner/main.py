"""Finds, builds and runs the tests; tests/run is the way in.

A test is a doctest program (build/tests/idem_unit_*, idem_component_*) or a script: tests/system/*_test.{py,sh} and
tests/clients/*_test.{py,sh}. There is no list to maintain. Contract of a script: exit status 0 passed, 77 skipped, anything else
failed; a last line `N passed, N failed[, N skipped]` gives the number of cases. A doctest case that
says MESSAGE("SKIPPED: reason") counts as skipped.
"""
import argparse
import pathlib
import sys

import build
import discover
import execute
import report


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/run", description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="add the long acceptance runs")
    parser.add_argument("--only", default="", metavar="PATTERN", help="only tests whose name contains PATTERN")
    parser.add_argument("--kinds", default="unit,component,system,clients", metavar="LIST")
    parser.add_argument("--build", default="build", metavar="DIR")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    root = pathlib.Path(__file__).resolve().parents[3]
    folder = pathlib.Path(options.build)
    folder = folder if folder.is_absolute() else root / folder
    kinds = options.kinds.split(",")
    unknown = [kind for kind in kinds if kind not in discover.KINDS]
    if unknown:
        sys.exit(f"tests/run: unknown kind {unknown[0]!r}; there are {', '.join(discover.KINDS)}")

    if not options.no_build and not build.run(root, folder, kinds, options.only):
        return report.finish([report.failed_build(folder)], folder, options.results)
    tests = discover.find(root, folder, kinds, options.only)
    if not tests:
        print(f"tests/run: no test is named like {options.only!r}" if options.only else "tests/run: found no test")
        return 1
    results = execute.run_all(tests, root, folder, options.long)
    return report.finish(results, folder, options.results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
