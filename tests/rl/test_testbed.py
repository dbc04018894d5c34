"""The testbed's tasks by name, goal or message, each with a site of its own."""

import json
from pathlib import Path

import pytest

from warex.errors import InputError
from warex.rl import EpisodePlan, SessionFactory
from warex.rl.testbed import RESULT, TestbedTasks

GOAL = "In which room does the 'Budget review' on Thursday 18 June take place?"
NAME = "calendar-budget-review-room"


@pytest.mark.parametrize(
    "prompt",
    [NAME, GOAL, [{"role": "system", "content": "Be quick."}, {"role": "user", "content": GOAL}]],
)
def test_a_prompt_names_its_task(prompt: object) -> None:
    with TestbedTasks() as tasks:
        assert tasks.name(prompt) == NAME


def test_a_prompt_of_no_task_is_refused() -> None:
    with TestbedTasks() as tasks, pytest.raises(InputError, match="'buy a lamp' names nothing"):
        tasks.name("buy a lamp")


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.timeout(120)
def test_the_tasks_own_check_rewards_the_answer(tmp_path: Path) -> None:
    with (
        TestbedTasks(command=lambda episode, goal, url: ()) as tasks,
        SessionFactory(
            tasks,
            "paper/server-error",
            out=tmp_path / "out",
            plan=lambda prompt, seed, place: EpisodePlan(is_faulted=False),
        ) as factory,
    ):
        right, wrong, silent = (factory.create(NAME, seed=1) for _ in range(3))
        for session, answer in ((right, "It is in Juniper."), (wrong, "I do not know.")):
            (session.episode.folder / RESULT).write_text(json.dumps({"answer": answer}))
        rewards = [it.verify().env_reward for it in (right, wrong, silent)]
    assert rewards[1:] == [0.0, 0.0]
    assert rewards[0] == 1.0
