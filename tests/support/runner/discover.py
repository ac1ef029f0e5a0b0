"""What there is to run: programs that the build made and scripts in the tree."""
import dataclasses
import fnmatch
import pathlib

KINDS = ("unit", "component", "system", "clients")


@dataclasses.dataclass(frozen=True)
class Test:
    name: str            # unit_cache_request, system/kill_test
    kind: str
    path: pathlib.Path
    alone: bool = False   # nothing else runs at the same time (a script with a line `# runner: alone`)
    engine: bool = False  # needs the real engine built beforehand (`# runner: needs engine`)

    @property
    def program(self):
        return self.kind in ("unit", "component")


def matches(name, pattern):
    """`pattern`: alternatives separated by |, each a part of the name or a shell pattern."""
    return not pattern or any(part in name or fnmatch.fnmatch(name, part) for part in pattern.split("|"))


def programs(root, kind):
    """Names that tests/CMakeLists.txt gives: one program per folder that holds sources."""
    base = root / "tests" / kind
    folders = sorted({source.parent.relative_to(base) for source in base.rglob("*.cpp")})
    return [f"idem_{kind}_" + "_".join(folder.parts) for folder in folders]


def find(root, build_folder, kinds, pattern):
    tests = []
    for kind in kinds:
        if kind in ("unit", "component"):
            for program in programs(root, kind):
                tests.append(Test(program.removeprefix("idem_"), kind, build_folder / "tests" / program))
        else:
            for script in sorted((root / "tests" / kind).glob("*_test.*")):
                if script.suffix in (".py", ".sh"):
                    notes = {line.strip() for line in script.read_text().splitlines()[:20] if line.startswith("# runner:")}
                    tests.append(Test(f"{kind}/{script.stem}", kind, script, "# runner: alone" in notes, "# runner: needs engine" in notes))
    return [test for test in tests if matches(test.name, pattern)]
