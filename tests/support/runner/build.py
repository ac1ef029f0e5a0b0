"""Builds what the chosen tests need, in a build folder of CMake and Ninja."""
import os
import subprocess

import discover


def targets(root, kinds, pattern):
    """(targets of the build, whether the real engine is needed)."""
    wanted, engine = set(), False
    for kind in kinds:
        if kind in ("unit", "component"):
            wanted.update(name for name in discover.programs(root, kind) if discover.matches(name.removeprefix("idem_"), pattern))
            continue
        for test in discover.find(root, root, [kind], pattern):
            wanted.add("idem")
            wanted.update(need for need in test.needs if need != "engine")
            engine = engine or "engine" in test.needs
    return sorted(wanted), engine


def run(root, folder, kinds, pattern):
    """True if all is built."""
    wanted, engine = targets(root, kinds, pattern)
    configure = ["cmake", "-B", str(folder), "-DIDEM_TESTS=ON"]
    if any(target.startswith("bench_") for target in wanted):
        configure.append("-DIDEM_BENCH=ON")
    if not (folder / "build.ninja").exists():
        configure += ["-G", "Ninja", "-S", str(root), "-DCMAKE_BUILD_TYPE=Release"]
    quiet = subprocess.run(configure, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if quiet.returncode != 0:
        print(quiet.stdout)
        return False
    jobs = os.environ.get("IDEM_JOBS", str(os.cpu_count()))
    if wanted and subprocess.run(["ninja", "-j", jobs, "-k", "20", "-C", str(folder), *wanted], check=False).returncode != 0:
        return False
    if engine:
        # Here, where nothing is timed; a failure shows in the tests that need it.
        subprocess.run([root / "tests" / "support" / "engine" / "install"], stdout=subprocess.DEVNULL, check=False)
    return True
