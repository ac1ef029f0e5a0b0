"""Installs the pinned SDKs into IDEM_CACHE, once, and runs their scenarios against gateways that the caller started."""
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

import idem_test

FOLDER = idem_test.ROOT / "tests" / "clients"
CACHE = pathlib.Path(os.environ.get("IDEM_CACHE") or pathlib.Path.home() / ".cache" / "idem") / "clients"
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


def installed(name, sources, install):
    """The folder of an SDK, made by `install(folder)` unless one from the same pins is there."""
    pins = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    folder = CACHE / f"{name}-{pins}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            install(folder)
            (folder / "complete").touch()
    return folder


def run(words, **options):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(str(word) for word in words[:4])} failed:\n{done.stdout}")


def javascript(name, scenarios=None):
    """The command that runs the scenarios of a family, or others, with the SDK of js/NAME; NAME is FAMILY-MAJOR."""
    sources = [FOLDER / "js" / name / file for file in ("package.json", "package-lock.json")]

    def install(folder):
        for source in sources:
            shutil.copy(source, folder)
        run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"], cwd=folder, stdin=subprocess.DEVNULL, timeout=600)

    return ["node", str(FOLDER / "js" / f"{scenarios or family(name)}_scenarios.mjs"), str(installed(f"js-{name}", sources, install))]


def python(name, scenarios=None):
    """The command that runs the scenarios of a family, or others, with the SDK of python/NAME.txt; NAME is FAMILY-MAJOR."""
    source = FOLDER / "python" / f"{name}.txt"

    def install(folder):
        run(["python3", "-m", "venv", folder / "venv"], timeout=300)
        run([folder / "venv" / "bin" / "pip", "install", "--quiet", "--no-deps", "-r", source], timeout=600)

    return [str(installed(f"python-{name}", [source], install) / "venv" / "bin" / "python"),
            str(FOLDER / "python" / f"{scenarios or family(name)}_scenarios.py")]


def family(name):
    return name.rpartition("-")[0]


OPENAI = {"openai 7 (npm)": lambda: javascript("openai-7"), "openai 4 (npm)": lambda: javascript("openai-4"),
          "openai 3 (PyPI)": lambda: python("openai-3"), "openai 1 (PyPI)": lambda: python("openai-1")}
RESPONSES = {"openai 7 (npm)": lambda: javascript("openai-7", "responses"), "openai 4 (npm)": lambda: javascript("openai-4", "responses"),
             "openai 3 (PyPI)": lambda: python("openai-3", "responses"), "openai 1 (PyPI)": lambda: python("openai-1", "responses")}
GOOGLE = {"@google/genai 3 (npm)": lambda: javascript("google-3"), "google-genai 3 (PyPI)": lambda: python("google-3")}
MISTRAL = {"@mistralai/mistralai 2 (npm)": lambda: javascript("mistral-2")}
# What applications use in place of an SDK; their client of OpenAI's API is one of the above, or their own.
LIBRARIES = {"@langchain/openai 1 (npm)": lambda: javascript("langchain-1"), "ai 7 (npm)": lambda: javascript("ai-7"),
             "langchain-openai 1 (PyPI)": lambda: python("langchain-1"), "litellm 1 (PyPI)": lambda: python("litellm-1")}
# The newer major of each speaks version 2026-10-21 of the API, the older one 2023-06-01.
ANTHROPIC = {"@anthropic-ai/sdk 1 (npm)": lambda: javascript("anthropic-1"), "@anthropic-ai/sdk 0 (npm)": lambda: javascript("anthropic-0"),
             "anthropic 2 (PyPI)": lambda: python("anthropic-2"), "anthropic 0 (PyPI)": lambda: python("anthropic-0")}
OLLAMA = {"ollama 0 (npm)": lambda: javascript("ollama-0"), "ollama 0 (PyPI)": lambda: python("ollama-0")}


def run_all(environment, family_of_sdks):
    """Runs the scenarios of every SDK of a family; (passed, failed). An SDK that gives no closing line counts as one failure."""
    passed = failed = 0
    strip = ("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "MISTRAL_", "OLLAMA_", "PYTHONPATH")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(strip)}
    for name, command in family_of_sdks.items():
        print(name, flush=True)
        done = subprocess.run(command(), env={**clean, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=400, check=False)
        print(done.stdout, end="", flush=True)
        counts = None
        for counts in CLOSING.finditer(done.stdout):
            pass
        passed += int(counts[1]) if counts else 0
        failed += int(counts[2]) if counts else 0
        if done.returncode != 0 and (counts is None or counts[2] == "0"):
            failed += 1
    return passed, failed


def behind_gateways(engine_url, embeddings_url, kind):
    """Starts the gateways that the scenarios need and gives their environment. `provider` serves what engines do not."""
    import provider
    bad = provider.start()
    gateway, before_bad = idem_test.serve(engine_url), idem_test.serve(bad.url)
    before_embeddings = gateway if embeddings_url == engine_url else idem_test.serve(embeddings_url)
    dead = idem_test.serve(f"http://127.0.0.1:{idem_test.free_port()}")
    return {"OPENAI_BASE_URL": gateway.url + "/v1", "OPENAI_API_KEY": "test-key", "ENGINE": kind,
            "ANTHROPIC_BASE_URL": gateway.url, "ANTHROPIC_API_KEY": "test-key",
            "GOOGLE_GEMINI_BASE_URL": gateway.url, "GEMINI_API_KEY": "test-key", "MISTRAL_URL": gateway.url, "MISTRAL_API_KEY": "test-key",
            "OLLAMA_HOST": gateway.url,
            "PROVIDER_URL": before_bad.url, "DEAD_URL": dead.url,
            "EMBEDDINGS_BASE_URL": before_embeddings.url + "/v1", "PROVIDER_BASE_URL": before_bad.url + "/v1", "PROVIDER_STATS": bad.url,
            "DEAD_BASE_URL": dead.url + "/v1"}
