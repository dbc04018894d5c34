"""A stranger clones the repository and types ``make``."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def make(folder: Path, *targets: str) -> str:
    """Run make as from a terminal of one's own, and return what it said."""
    ours = ("MAKE", "MFLAGS", "PYTEST", "VIRTUAL_ENV", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        ["make", *targets],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_fresh_clone_is_ready_after_one_command_and_stays_so(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is nothing to clone")
    # The space is meant: people's folders have them.
    clone = tmp_path / "a fresh clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)

    assert "make demo" in make(clone)
    assert "Installing" in make(clone, "setup")
    assert make(clone, "setup").startswith("Ready")

    output = subprocess.run(
        [clone / ".venv" / "bin" / "warex", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "demo" in output
