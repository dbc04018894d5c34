"""Run pytest; run once more, alone, each test that failed.

    python -m scripts.run_tests PYTEST-ARGUMENT…

A test that passes the second time is flaky: the run ends with its first failure and a line ``FLAKY
NAME``. The exit code is pytest's, but 0 if at most three tests were flaky and no other failed.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

MOST_FLAKY: Final = 3
MOST_AGAIN: Final = 20
"""Failures above which nothing is run again: the code is broken."""


class FailureLog:
    """A pytest plugin that notes the failures of a run, also of one in several processes."""

    def __init__(self) -> None:
        self.failures: dict[str, str] = {}
        """The first failure of each test or file, by its name."""
        self.root = Path()
        """The folder that the names start from; it need not be the working directory."""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Note where the names start."""
        self.root = config.rootpath

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failed test, set-up or tear-down."""
        if report.failed:
            self.failures.setdefault(report.nodeid, report.longreprtext)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be collected."""
        if report.failed:
            self.failures.setdefault(report.nodeid, report.longreprtext)


def main(arguments: Sequence[str]) -> int:
    """Run the tests, and once more those that failed; return the exit code."""
    # One process more than there are processors: many tests wait for a browser or a time limit.
    os.environ.setdefault("PYTEST_XDIST_AUTO_NUM_WORKERS", str((os.cpu_count() or 1) + 1))
    log = FailureLog()
    code = int(pytest.main([*arguments], plugins=[log]))
    if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(log.failures) <= MOST_AGAIN:
        return code
    print(f"\n{len(log.failures)} failed: each is run once more, alone.", flush=True)
    flaky = [name for name in log.failures if _passes_alone(f"{log.root}/{name}", arguments)]
    for name in flaky:
        print(f"\n{log.failures[name]}\nFLAKY {name}")
    if len(flaky) > MOST_FLAKY:
        print(f"{len(flaky)} tests are flaky, of which {MOST_FLAKY} are allowed.")
    return 0 if len(flaky) == len(log.failures) <= MOST_FLAKY else code


def _passes_alone(name: str, arguments: Sequence[str]) -> bool:
    """Run one test in a process of its own, with the options of the first run.

    ``name``: as pytest names it, after the folder that pytest's names start from.
    """
    options = [it for it in arguments if not Path(it.partition("::")[0]).exists()]
    with tempfile.TemporaryDirectory(prefix="warex-tests-") as folder:
        # A name may hold any character, and be longer than a command line's argument.
        names = Path(folder, "names")
        names.write_text(f"{name}\n", encoding="utf-8")
        again = [*options, "--numprocesses", "0", "-p", "no:cacheprovider", f"@{names}"]
        return not subprocess.run([sys.executable, "-m", "pytest", *again], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
