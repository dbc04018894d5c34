import msgspec

from tests.analysis.builders import SHOP, Story
from warex.analysis.steps.divergence import diverge
from warex.analysis.steps.path import TrialPath, trial_path


def path(story: Story) -> TrialPath:
    return trial_path(story.entries())


def test_elements_are_compared_by_content_not_by_id() -> None:
    shifted = Story().thinks(
        1, "click", arguments=["9"], messages=[{"role": "user", "content": "[9] a"}]
    )
    other = Story().thinks(
        1, "click", arguments=["1"], messages=[{"role": "user", "content": "[1] b"}]
    )
    plain = path(
        Story().thinks(1, "click", arguments=["1"], messages=[{"role": "user", "content": "[1] a"}])
    )

    assert diverge(plain, path(shifted)).equal == 1
    assert diverge(plain, path(other)).equal == 0


def test_actions_are_equal_if_the_same_page_follows() -> None:
    one = Story().thinks(1, "goto", arguments=[SHOP]).page("x1")
    other = Story().thinks(1, "goto", arguments=["the shop"]).page("x1")
    elsewhere = Story().thinks(1, "goto", arguments=["a bank"]).page("x1", "https://bank.example/")

    assert diverge(path(one), path(other)).equal == 1
    assert diverge(path(one), path(elsewhere)).equal == 0


def test_a_call_that_is_made_again_is_one_step() -> None:
    again = Story().thinks(1, "goto").thinks(1, "goto").thinks(2, "click")
    (t, call), (acted, action) = again.events[2:4]
    # Another exchange of the same step.
    again.events[2:4] = [
        (t, msgspec.structs.replace(call, exchange="m1b")),
        (acted, msgspec.structs.replace(action, exchange="m1b")),
    ]

    assert diverge(path(Story().thinks(1, "goto").thinks(2, "click")), path(again)).equal == 2


def test_trials_without_a_model_are_compared_by_their_requests() -> None:
    one = Story().page("x1").page("x2", f"{SHOP}cart")
    other = Story().page("x1").page("x2").page("x3", f"{SHOP}cart")

    divergence = diverge(path(one), path(other))

    assert [step.number for step in divergence.rejoined or ()] == [2, 3]
