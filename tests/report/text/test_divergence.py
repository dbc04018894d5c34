from dataclasses import replace

from tests.analysis.builders import SHOP, Story
from warex.analysis.steps.divergence import diverge
from warex.analysis.steps.path import TrialPath, trial_path
from warex.report.text.divergence import describe_divergence, trial_names
from warex.traces.paths import TrialKey

CLEAN = TrialKey("shop", "bot", "clean", "buy")
NAMES = ("clean", "server-error")


def path(story: Story) -> TrialPath:
    return trial_path(story.entries())


def sentences(one: Story, other: Story) -> str:
    return " ".join(describe_divergence(diverge(path(one), path(other)), NAMES))


def test_a_recovery_is_described_from_the_fault_to_the_common_step() -> None:
    clean = Story().thinks(1, "goto").thinks(2, "click").thinks(3, "fill")
    faulted = Story().thinks(1, "goto").fault(1).thinks(2, "reload")
    faulted.thinks(3, "click").thinks(4, "fill")

    assert sentences(clean, faulted) == (
        "They diverge at step 2, after 1 equal step: clean: click(); server-error: reload()."
        f" Just before, server-error met http_error (i1) on {SHOP}. What follows is downstream of"
        " it. They converge again at step 2 of clean and step 3 of server-error."
        " They end alike."
    )


def test_early_ends_and_divergence_without_a_fault_are_reported() -> None:
    short, longer = Story().thinks(1, "goto"), Story().thinks(1, "goto").thinks(2, "click")

    assert sentences(longer, short) == (
        "They diverge at step 2, after 1 equal step: clean: click(); server-error: has ended."
        " No fault was delivered before: it is the agent's own variation."
        " They do not converge again."
    )


def test_equal_trials_are_reported_as_equal() -> None:
    assert sentences(Story().thinks(1, "goto"), Story().thinks(1, "goto")) == (
        "Both do the same: 1 step."
    )
    assert sentences(Story(), Story()) == "Neither has a step."


def test_trials_are_named_by_what_differs_between_them() -> None:
    faulted = replace(CLEAN, condition="server-error")

    assert trial_names((CLEAN, faulted)) == NAMES
    assert trial_names((CLEAN, replace(CLEAN, repeat=2))) == ("repeat 1", "repeat 2")
    assert trial_names((CLEAN, replace(faulted, agent="other"))) == (
        "clean / bot",
        "server-error / other",
    )
    assert trial_names((CLEAN, CLEAN)) == ("first", "second")
