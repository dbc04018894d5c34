import subprocess
import sys
from pathlib import Path

import pytest
from bench.soak.command import MOST_GROWTH, Sample, grown

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.wire
def test_a_small_soak_is_clean() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "soak", "--requests", "2000"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Clean." in done.stdout


def _samples(*memory: int, descriptors: int = 10) -> list[Sample]:
    last = len(memory)
    return [
        Sample(1000 * number, each, descriptors if number == last else 10)
        for number, each in enumerate(memory, 1)
    ]


def test_growth_counts_once_the_lane_is_warm() -> None:
    warm = 70_000_000

    assert not grown(_samples(10, 20, 30, warm, warm, warm + MOST_GROWTH), 6000, print)
    assert grown(_samples(10, 20, 30, warm, warm, warm + MOST_GROWTH + 1), 6000, print)


def test_one_lost_descriptor_is_too_many() -> None:
    assert grown(_samples(*[10] * 6, descriptors=11), 6000, print) == ["1 descriptors were lost"]


def test_a_soak_that_ended_early_is_not_clean() -> None:
    assert grown(_samples(10, 10), 6000, print)
