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
    notes: frozenset = frozenset()  # words of the `# runner:` lines among a script's first twenty

    @property
    def alone(self):
        """Nothing else runs at the same time."""
        return "alone" in self.notes

    @property
    def needs(self):
        """What is built beforehand besides the program: `needs-engine` is the real engine, `needs-X` the target X."""
        return sorted(note.removeprefix("needs-") for note in self.notes if note.startswith("needs-"))

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
                    lines = [line for line in script.read_text().splitlines()[:20] if line.startswith("# runner:")]
                    notes = frozenset(word for line in lines for word in line.split()[2:])
                    tests.append(Test(f"{kind}/{script.stem}", kind, script, notes))
    return [test for test in tests if matches(test.name, pattern)]
