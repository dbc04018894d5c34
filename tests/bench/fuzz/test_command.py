import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]


def _run_fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", "fuzz", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=590,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.wire
def test_a_lane_survives_a_thousand_mutated_messages() -> None:
    done = _run_fuzz("--cases", "1000", "--failures", "3")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1,000 cases, seed 1" in done.stdout
    assert "Clean." in done.stdout


@pytest.mark.slow
@pytest.mark.wire
def test_single_cases_can_be_repeated() -> None:
    done = _run_fuzz("--seed", "1", "--only", "1", "2")

    assert "2 cases, seed 1" in done.stdout
