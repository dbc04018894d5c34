from itertools import accumulate

import pytest

from warex.llm.steps import StepCounter


@pytest.mark.parametrize(
    ("bodies", "steps"),
    [
        ("", []),
        ("aabbbc", [1, 1, 2, 2, 2, 3]),
        ("aba", [1, 2, 3]),
    ],
)
def test_repeats_of_one_body_in_a_row_are_one_step(bodies: str, steps: list[int]) -> None:
    counts = [each.count for each in accumulate(bodies, StepCounter.after, initial=StepCounter())]

    assert counts == [0, *steps]
