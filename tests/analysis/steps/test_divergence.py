from collections.abc import Sequence

import pytest
from pydantic import JsonValue

from tests.analysis.builders import Story
from warex.analysis.steps.divergence import Divergence, Place, diverge
from warex.analysis.steps.path import TrialPath, trial_path


def path(story: Story) -> TrialPath:
    return trial_path(story.entries())


def clicks(story: Story, *names: str) -> Story:
    """Add steps that click on elements of these names, each marked by an id of its own page."""
    for name in names:
        step = sum(event.event == "llm_call" for _, event in story.events) + 1
        page: JsonValue = [{"role": "user", "content": f"[{step}] {name}"}]
        story.thinks(step, "click", arguments=[str(step)], messages=page)
    return story


def of(one: Sequence[str], other: Sequence[str]) -> Divergence:
    return diverge(path(clicks(Story(), *one)), path(clicks(Story(), *other)))


def numbers(steps: tuple[object, object] | None) -> tuple[int | None, ...] | None:
    return None if steps is None else tuple(getattr(step, "number", None) for step in steps)


@pytest.mark.parametrize(
    ("one", "other", "equal", "first", "rejoined", "sustained"),
    [
        ("abcd", "abcd", 4, None, None, None),
        ("abcd", "abXcd", 2, (3, 3), (3, 4), None),
        ("abcd", "abX", 2, (3, 3), None, (3, 3)),
        ("abcd", "ab", 2, (3, None), None, (3, None)),
        ("ab", "abcd", 2, (None, 3), None, (None, 3)),
        # One equal step in the middle of others does not bring them together.
        ("abcdef", "aXcYZW", 1, (2, 2), None, (2, 2)),
        ("abcdefg", "aXcdYZW", 1, (2, 2), (3, 3), (5, 5)),
        # The last step alone does: both end alike.
        ("abcd", "aXYd", 1, (2, 2), (4, 4), None),
        ("", "", 0, None, None, None),
    ],
)
def test_trials_diverge_at_the_first_different_step_and_may_realign(
    one: str,
    other: str,
    equal: int,
    first: tuple[int | None, ...] | None,
    rejoined: tuple[int, ...] | None,
    sustained: tuple[int | None, ...] | None,
) -> None:
    divergence = of(one, other)

    assert divergence.equal == equal
    assert numbers(divergence.first) == first
    assert numbers(divergence.rejoined) == rejoined
    assert numbers(divergence.sustained) == sustained


@pytest.mark.parametrize(
    ("fault_before", "place"),
    [(None, "before_faults"), (1, "after_fault"), (2, "at_fault"), (3, "before_faults")],
)
def test_the_place_says_whether_a_fault_came_before_and_how_long_before(
    fault_before: int | None, place: Place
) -> None:
    def story(names: str, fault: int | None) -> Story:
        story = Story()
        for number, name in enumerate(names):
            if number == fault:
                story.fault(1)
            clicks(story, name)
        return story.fault(1) if fault == len(names) else story

    divergence = diverge(path(story("abc", None)), path(story("abX", fault_before)))

    assert divergence.equal == 2
    assert divergence.place == place
    assert (divergence.faults[1] is None) == (place == "before_faults")


@pytest.mark.slow
def test_alignment_after_a_divergence_is_bounded() -> None:
    divergence = of(["a"] * 900, ["b", *["a"] * 900])

    assert divergence.equal == 0
    assert numbers(divergence.rejoined) == (1, 2)
