"""The summary, a JUnit file beside the build, and the closing line."""
import xml.etree.ElementTree as xml

import discover
from execute import Result

CONTROL = {code: None for code in range(32) if code not in (9, 10, 13)}  # XML 1.0 forbids them


def failed_build(folder):
    return Result(discover.Test("build", "unit", folder), 0, 1, 0, 0.0, "the build failed\n")


def write_junit(results, path):
    suites = xml.Element("testsuites")
    for result in results:
        total = result.passed + result.failed + result.skipped
        suite = xml.SubElement(suites, "testsuite", name=result.test.name, tests=str(total), failures=str(result.failed),
                               skipped=str(result.skipped), time=f"{result.seconds:.3f}")
        case = xml.SubElement(suite, "testcase", name=result.test.name, time=f"{result.seconds:.3f}")
        if result.failed:
            xml.SubElement(case, "failure").text = result.output.translate(CONTROL)
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def finish(results, folder, results_file):
    passed = sum(result.passed for result in results)
    failed = sum(result.failed for result in results)
    skipped = sum(result.skipped for result in results)
    write_junit(results, folder / "junit.xml")
    for result in results:
        if result.failed:
            print(f"failed: {result.test.name}")
    if results_file:
        with results_file.open("a") as file:
            file.write(f"{passed} {failed} {skipped}\n")
    if skipped:
        print(f"skipped: {skipped} (what they say of it stands above)", flush=True)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or passed == 0 else 0
