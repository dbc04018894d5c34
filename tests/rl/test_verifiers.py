"""The testbed is a taskset of ``verifiers``, whose own classes play it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rl.conftest import Program

pytestmark = [pytest.mark.slow, pytest.mark.wire, pytest.mark.timeout(300)]

GOAL = "In which room does the 'Budget review' on Thursday 18 June take place?"


@pytest.fixture(scope="module")
def results(
    python_with: Callable[[str], Program], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What the rollouts of ``verifiers_rollouts`` came to."""
    python = python_with("verifiers")
    folder = tmp_path_factory.mktemp("rollouts")
    script = Path(__file__).with_name("verifiers_rollouts.py")
    written = python(script, folder / "out", WAREX_CA_DIR=str(folder / "ca"))
    loaded: dict[str, Any] = json.loads(written.splitlines()[-1])
    return loaded


def test_clean_and_faulted_rollouts_are_separate_groups(
    results: dict[str, Any],
) -> None:
    clean, faulted, mixed = results["patient"]
    assert {it["prompt"] for group in results["patient"] for it in group} == {GOAL}
    assert len({it["group"] for group in results["patient"] for it in group}) == 3
    assert [it["faulted"] for it in (*clean, *faulted)] == [0, 0, 1, 1]
    assert sorted(it["faulted"] for it in mixed) == [0, 1]
    for rollout in (*clean, *faulted, *mixed):
        assert (rollout["ok"], rollout["reward"]) == (True, 1.0)
        assert rollout["delivered"] == rollout["faulted"]
        assert rollout["replies"].count("reload") == rollout["faulted"]
        assert rollout["replies"][-1] == "answer It is in Juniper."


def test_each_intensity_of_a_scenario_is_a_task(results: dict[str, Any]) -> None:
    task, scenario = "calendar-budget-review-room", "paper/server-error"
    assert results["strengths"] == [
        [f"{task} clean seed 0", 1.0],
        [f"{task} faulted {scenario} seed 0", 1.0],
        [f"{task} faulted {scenario} intensity 2.5 seed 0", 2.5],
    ]


def test_a_policy_that_gives_up_on_a_fault_has_reward_0(results: dict[str, Any]) -> None:
    ((rollout,),) = results["giveup"]
    assert rollout["replies"] == ["answer unknown"]
    assert (rollout["ok"], rollout["reward"]) == (True, 0.0)


@pytest.mark.parametrize("ending", ["hangs", "cancelled"])
def test_a_rollout_that_cannot_be_scored_has_an_error_and_no_reward(
    results: dict[str, Any], ending: str
) -> None:
    ((rollout,),) = results[ending]
    assert (rollout["ok"], rollout["reward"]) == (False, None)
    assert "did not end within its time" in rollout["error"]
