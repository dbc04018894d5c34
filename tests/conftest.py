"""For every test: signals do what they usually do; a quick one has what `make setup` counts on.

A shell has its jobs in the background ignore Ctrl-C, and a program hands down what it ignores. A
program of ours that a test runs in this process listens for its end and never stops listening.
"""

import contextlib
import gc
import importlib
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.bare_machine import bare_path, is_allowed
from warex.llm.prices.table import built_in_prices

for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


# Each processor has tests of its own: several threads of one computation would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A command of a test does not write into the summary of the job that runs the tests.
for _variable in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(_variable, None)


# How long an example takes says nothing on a machine that does other work, too. The slow tier runs
# the quick one's properties again, with more examples.
# In CI both try the same examples each time: a new one that fails would stop a change that has
# nothing to do with it. Elsewhere they are drawn again.
_SAME = "CI" in os.environ
settings.register_profile("quick", deadline=None, max_examples=25, derandomize=_SAME)
settings.register_profile("thorough", deadline=None, max_examples=100, derandomize=_SAME)
settings.load_profile("quick")


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


# ---- the programs of a quick test

_TESTS = Path(__file__).parent
_FULL_PATH = os.environ["PATH"]
_quick = False


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(tempfile.mkdtemp(prefix="warex-test-bin-"))
    folder.chmod(0o755)
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.stash[_BARE_PATH] = bare_path(folder / "bin")
    # Not the prices that whoever runs the tests has renewed.
    os.environ["WAREX_PRICES"] = str(folder / "prices.json")
    (folder / "prices.json").write_bytes(built_in_prices().json_bytes())


_BARE_PATH = pytest.StashKey[str]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Narrow the PATH before any fixture starts a program."""
    global _quick
    _quick = item.get_closest_marker("slow") is None
    os.environ["PATH"] = item.config.stash[_BARE_PATH] if _quick else _FULL_PATH


def _watch_programs(event: str, arguments: tuple[Any, ...]) -> None:
    """Fail a quick test that starts another program by its path."""
    if _quick and event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
        program, environment = os.fsdecode(arguments[0]), arguments[-1]
        path = (os.environ if environment is None else environment).get("PATH", os.defpath)
        if not is_allowed(program, path):
            pytest.fail(
                f"a quick test may not start {program}, which a machine may lack after `make"
                " setup`; mark the test slow"
            )


sys.addaudithook(_watch_programs)


# ---- collection


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Spare the garbage collector, now and later, the million objects that collection leaves."""
    gc.disable()
    try:
        _import_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_share(config: pytest.Config) -> None:
    """Import, in one of several processes, its share of the test files before it collects all.

    What pytest compiles, which is most of the work, it keeps for the other processes. In the same
    order they would all compile the same file at the same moment.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for file in _files(config)[number::count]:
        # Collection says what is wrong with a file.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(
                ".".join(file.relative_to(config.rootpath).with_suffix("").parts)
            )


def _files(config: pytest.Config) -> list[Path]:
    """Find the test files that a run collects."""
    named = [config.rootpath / it.partition("::")[0] for it in config.args]
    files = {
        file
        for it in named
        if it.is_relative_to(_TESTS)
        for file in ([it] if it.is_file() else it.rglob("test_*.py"))
    }
    return sorted(it for it in files if not pytest_ignore_collect(it, config))


# ---- a tier does not read the files of the other

_SLOW_FILE = re.compile(r"^pytestmark = (?:\[[^\]]*)?pytest\.mark\.slow\b", re.MULTILINE)
_MENTIONS_SLOW = re.compile(r"\bslow\b|\bhypothesis\b")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files in which a tier has no test: to import them costs."""
    if not collection_path.match("test_*.py"):
        return None
    match config.option.markexpr:
        case "not slow":
            has_none = _SLOW_FILE.search(collection_path.read_text(encoding="utf-8")) is not None
        case "slow" | "slow or hypothesis":
            has_none = not _MENTIONS_SLOW.search(collection_path.read_text(encoding="utf-8"))
        case _:
            return None
    return True if has_none else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test of the slow tier in a file that this tier would not read."""
    marked = {
        item.path
        for item in items
        if item.get_closest_marker("slow")
        or getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    }
    silent = [it for it in marked if not _MENTIONS_SLOW.search(it.read_text(encoding="utf-8"))]
    if silent:
        raise pytest.UsageError(
            f"{', '.join(map(str, silent))}: name the marker slow, or import hypothesis, in the"
            " file itself: the slow tier reads no others"
        )
