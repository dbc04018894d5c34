"""``scripts/run_tests.py``: a test that fails once and passes alone does not fail the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLAKY = '''
import pytest
from pathlib import Path
@pytest.mark.parametrize("name", {names!r})
def test_flaky(name):
    """Fails the first time only."""
    before = Path(__file__).with_name(f"ran-{{len(name)}}")
    ran = before.exists()
    before.touch()
    assert ran, "the first failure of " + name
'''
BROKEN = """
def test_broken():
    assert 1 == 2
"""


PROCESSES = """
import os
def test_processes():
    assert int(os.environ["PYTEST_XDIST_WORKER_COUNT"]) == (os.cpu_count() or 1) + 1
"""


def run(folder: Path, *paths: str, processes: str = "0") -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    options = ["-p", "xdist", f"--numprocesses={processes}"]
    return subprocess.run(
        [sys.executable, "-m", "scripts.run_tests", *options, *paths],
        cwd=folder,
        # To load all plugins takes most of the time of so short a run.
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def flaky(count: int) -> str:
    """Return a module of tests whose names have different lengths."""
    names = ["a b[" + "x" * number + "]" for number in range(count)]
    return FLAKY.format(names=names)


@pytest.mark.slow
def test_a_flaky_test_is_named_with_its_first_failure(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(flaky(3))
    (tmp_path / "test_b.py").write_text(PROCESSES)

    done = run(tmp_path, processes="auto")

    assert done.returncode == 0, done.stdout
    named = [line for line in done.stdout.splitlines() if line.startswith("FLAKY ")]
    assert sorted(named) == [f"FLAKY test_a.py::test_flaky[a b[{'x' * n}]]" for n in range(3)]
    assert "the first failure of a b[xx]" in done.stdout


@pytest.mark.parametrize(
    ("modules", "reason"),
    [
        pytest.param(
            {"test_a.py": flaky(4)},
            "4 tests are flaky, of which 3 are allowed.",
            marks=pytest.mark.slow,
        ),
        ({"test_a.py": flaky(1), "test_b.py": BROKEN}, "FLAKY test_a.py::test_flaky[a b[]]"),
        ({"test_b.py": "import none_such"}, "No module named 'none_such'"),
    ],
    ids=["too many", "one broken", "no module"],
)
def test_a_run_with_a_real_failure_fails(
    tmp_path: Path, modules: dict[str, str], reason: str
) -> None:
    for name, text in modules.items():
        (tmp_path / name).write_text(text)

    done = run(tmp_path)

    assert done.returncode not in (0, 5), done.stdout
    assert reason in done.stdout
    assert "FLAKY test_b.py" not in done.stdout


def test_a_flaky_test_is_found_again_below_another_root(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pytest.ini").write_text("[pytest]\n")
    (inner / "test_a.py").write_text(flaky(1))

    done = run(tmp_path, "inner")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "FLAKY test_a.py::test_flaky[a b[]]" in done.stdout


def test_a_run_that_passes_runs_nothing_again(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_right(): pass")

    done = run(tmp_path)

    assert done.returncode == 0
    assert "once more" not in done.stdout
