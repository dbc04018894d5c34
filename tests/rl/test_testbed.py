"""The testbed's tasks by name, goal or message, each with a site of its own."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.training.endpoint import Endpoint, endpoint
from warex.errors import InputError
from warex.rl import EpisodePlan, SessionFactory
from warex.rl.testbed import RESULT, TestbedTasks

GOAL = "In which room does the 'Budget review' on Thursday 18 June take place?"
NAME = "calendar-budget-review-room"
HOW_TO = Path(__file__).parents[2] / "docs/how-to/reinforcement-learning.md"


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


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.browser
@pytest.mark.timeout(120)
def test_the_first_example_plays_an_episode_with_the_model_it_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, example = re.findall(r"```(?:sh|python)\n(.*?)```", HOW_TO.read_text(), re.DOTALL)[:2]
    results: dict[str, Any] = {}
    monkeypatch.chdir(tmp_path)
    with endpoint() as url:
        message = {"role": "assistant", "content": "send_msg_to_user('It is in Juniper.')"}
        Endpoint.answers[:] = [(200, {"choices": [{"message": message}]})]
        assert "http://127.0.0.1:8000" in example
        exec(example.replace("http://127.0.0.1:8000", url.removesuffix("/v1")), results)
    assert (results["reward"], len(results["calls"])) == (1.0, 1)
    assert [it["model"] for it in Endpoint.asked] == [command.split()[-1]]
