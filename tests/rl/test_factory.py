"""Sessions of one factory: their plans, their ids, and what they do not share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.proxy.support.origin import Origin
from tests.rl.episodes import DOWN_ONCE, ask, tasks
from warex.errors import InputError, ScenarioError
from warex.rl import SessionFactory

pytestmark = pytest.mark.wire


def test_a_group_has_clean_and_faulted_episodes_in_one_process(
    origin: Origin, tmp_path: Path
) -> None:
    with SessionFactory(tasks(origin), DOWN_ONCE, out=tmp_path / "out") as factory:
        group = [factory.create("buy a lamp", seed=3) for _ in range(4)]
        assert [it.episode.plan.is_faulted for it in group] == [False, True, False, True]
        assert [ask(it) for it in group] == [200, 503, 200, 503]
        results = [it.verify() for it in group]
        assert [it.env_reward for it in results] == [1.0] * 4
        assert [it.metrics["delivered"] for it in results] == [0, 1, 0, 1]
        assert group[0].verify() is results[0]
        for session in group:
            session.close()
            session.close()
        assert len(factory.curriculum.clean) == len(factory.curriculum.faulted) == 2
    assert len({it.episode.folder for it in group}) == 4
    assert [len(it.trial.requests) for it in group] == [1] * 4


def test_a_second_episode_with_the_same_id_is_refused(origin: Origin, tmp_path: Path) -> None:
    with SessionFactory(tasks(origin), DOWN_ONCE, out=tmp_path / "out") as factory:
        first = factory.create("p", episode_id="a")
        with pytest.raises(InputError, match="an episode 'a' is running; close its session first"):
            factory.create("p", episode_id="a")
        assert ask(first) == 200
        assert first.verify().env_reward == 1.0
        first.close()
        again = factory.create("p", episode_id="a")
        assert again.verify().env_reward == 1.0
    assert first.episode.folder != again.episode.folder
    assert len(first.trial.requests) == 1


@pytest.mark.slow
def test_a_faulted_episode_of_no_scenario_is_refused(origin: Origin, tmp_path: Path) -> None:
    with SessionFactory(tasks(origin), None, out=tmp_path / "out") as factory:
        assert not factory.create("p").episode.plan.is_faulted
        with pytest.raises(InputError, match="neither it nor the factory names a scenario"):
            factory.create("p")


def test_a_session_outside_its_block_is_refused(origin: Origin, tmp_path: Path) -> None:
    factory = SessionFactory(tasks(origin), DOWN_ONCE, out=tmp_path / "out")
    with pytest.raises(InputError, match="inside `with SessionFactory"):
        factory.create("p")


def test_a_time_limit_of_no_seconds_is_refused(origin: Origin, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="timeout_s=0"):
        SessionFactory(tasks(origin), DOWN_ONCE, out=tmp_path / "out", timeout_s=0)


def test_a_scenario_that_does_not_exist_is_refused_before_any_episode(
    origin: Origin, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError, match="did you mean 'paper/server-error'"):
        SessionFactory(tasks(origin), "paper/server-eror", out=tmp_path / "out")


@pytest.mark.slow
def test_a_plan_and_a_task_of_another_kind_are_refused(origin: Origin, tmp_path: Path) -> None:
    @contextmanager
    def without_task(prompt: object, seed: int) -> Iterator[None]:
        yield

    def without_plan(prompt: object, seed: int, place: int) -> None: ...

    for name, start, plan, why in (
        (
            "plan",
            tasks(origin),
            without_plan,
            "the plan of the episode 'a' is None, not an EpisodePlan",
        ),
        ("task", without_task, None, "the task of the episode 'a' is None, not an EpisodeTask"),
    ):
        with (
            SessionFactory(start, DOWN_ONCE, out=tmp_path / name, plan=plan) as factory,  # type: ignore[arg-type]
            pytest.raises(InputError, match=why),
        ):
            factory.create("p", episode_id="a")
