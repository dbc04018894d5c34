import subprocess
import sys
from pathlib import Path

import pytest
from bench.soak.command import GROWTH_TOLERANCE, MAX_GROWTH, Sample, check_growth

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.wire
def test_a_small_soak_is_clean() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "soak", "--requests", "2000"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=570,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Clean." in done.stdout


def _samples(requests: int, *memory: int, descriptors: int = 10) -> list[Sample]:
    steps = len(memory) - 1
    return [
        Sample(requests * step // steps, each, descriptors if step == steps else 10)
        for step, each in enumerate(memory)
    ]


@pytest.mark.parametrize(
    ("requests", "allowed"),
    [
        (2000, GROWTH_TOLERANCE),
        (20_000, GROWTH_TOLERANCE),
        (50_000, MAX_GROWTH // 2),
        (100_000, MAX_GROWTH),
    ],
)
def test_growth_is_allowed_by_the_number_of_requests(requests: int, allowed: int) -> None:
    warm = 70_000_000

    assert not check_growth(_samples(requests, warm, warm, warm + allowed), requests, print)
    assert check_growth(_samples(requests, warm, warm, warm + allowed + 1), requests, print)


def test_one_lost_descriptor_is_too_many() -> None:
    samples = _samples(6000, *[10] * 6, descriptors=11)
    assert check_growth(samples, 6000, print) == ["1 descriptors were lost"]


def test_a_soak_that_ended_early_is_not_clean() -> None:
    assert check_growth(_samples(3000, 10, 10), 6000, print)
    assert check_growth([Sample(0, 10, 10)], 6000, print)
