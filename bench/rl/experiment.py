"""Policy gradient on the ranker: REINFORCE with the baselines of `warex.rl`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from bench.rl.agent import run_episode
from bench.rl.policy import Choice, Policy, answer_of, legal
from warex.exports.prompt_page import PromptPage
from warex.rl import (
    Curriculum,
    EpisodePlan,
    ScoredEpisode,
    SessionFactory,
    advantages,
)
from warex.rl.testbed import TestbedTasks
from warex.seeds import draw
from warex.training.ranking.candidates import Candidate
from warex_testbed.tasks import Task, load_tasks

TASKS: Final = (
    "calendar-budget-review-room",
    "calendar-gate-code",
    "calendar-accept-planning",
    "forum-like-sealant",
    "shop-favourite-jam",
    "mail-gate-code",
)
"""Tasks whose oracles need neither scripts nor text fields."""
SCENARIO: Final = "paper/server-error"
_IMITATION_STEPS: Final = 60
_IMITATION_RATE: Final = 0.5
_RATE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Round:
    """The rewards of one round."""

    clean: tuple[float, ...]
    faulted: tuple[float, ...]
    unscored: int


@dataclass(frozen=True, slots=True)
class Learning:
    """One seed's curve."""

    seed: int
    start: Round
    """The most likely actions before training."""
    rounds: tuple[Round, ...]
    """Sampled actions, during it."""
    end: Round
    """The most likely actions after it."""


class Experiment:
    """The policy of one seed, and the episodes by which it learns."""

    def __init__(self, factory: SessionFactory, seed: int, size: int) -> None:
        self._factory = factory
        self._seed = seed
        self._size = size
        """Episodes of a group."""
        self._tasks = {it.name: it for it in load_tasks() if it.name in TASKS}
        self._policy = Policy()
        self._groups = 0

    def run(self, rounds: int) -> Learning:
        """Imitate the oracles once, then learn by reward."""
        self._imitate()
        start = self._round(sampled=False)
        learned = tuple(self._round(sampled=True) for _ in range(rounds))
        return Learning(self._seed, start, learned, self._round(sampled=False))

    def _imitate(self) -> None:
        """Begin with the oracles' steps under clean, in which no page is ever reloaded."""
        wanted: list[tuple[Choice, float]] = []
        for task in self._tasks.values():
            session = self._factory.create(task.name, seed=-1)
            steps = iter(task.oracle)

            def follow(page: PromptPage, step: int, steps: Any = steps) -> Any:
                oracle = next(steps)
                some, actions = legal(page)
                place = _place_of(oracle.action, oracle.name, some)
                return some[place], Choice(actions, place)

            try:
                choices = run_episode(session, task.goal, task.start_url(), follow)
                reward = session.verify().env_reward
            finally:
                session.close()
            if reward != 1.0:
                raise SystemExit(f"the oracle of {task.name} fails over HTTP: reward {reward}")
            wanted += [(choice, 1.0) for choice in choices]
        for _ in range(_IMITATION_STEPS):
            self._policy.step(wanted, _IMITATION_RATE)

    def _round(self, *, sampled: bool) -> Round:
        size = self._size if sampled else 2
        everything: list[ScoredEpisode] = []
        steps: list[tuple[Choice, float]] = []
        for task in self._tasks.values():
            self._groups += 1
            played = [self._episode(task, place, sampled=sampled) for place in range(size)]
            group = [episode for episode, _ in played]
            everything += group
            for (_, choices), advantage in zip(played, advantages(group), strict=True):
                if advantage:
                    steps += [(choice, advantage) for choice in choices]
        if sampled and steps:
            self._policy.step(steps, _RATE)
        return _summed(everything)

    def _episode(
        self, task: Task, place: int, *, sampled: bool
    ) -> tuple[ScoredEpisode, list[Choice]]:
        session = self._factory.create(task.name, seed=self._seed * 1_000_000 + self._groups)

        def choose(page: PromptPage, step: int) -> tuple[Candidate, Choice]:
            about = (task.name, self._groups, place, step)
            return self._policy.choose(page, draw(self._seed, *about) if sampled else None)

        try:
            choices = run_episode(session, task.goal, task.start_url(), choose)
            reward = session.verify().env_reward
        finally:
            session.close()
        return ScoredEpisode(session.episode.plan, reward), choices


@contextmanager
def open_factory(out: Path) -> Iterator[SessionFactory]:
    """Start the testbed and a lane for all episodes."""

    def plan(prompt: object, seed: int, place: int) -> EpisodePlan:
        return EpisodePlan(False) if seed < 0 else Curriculum().plan(place)

    with (
        TestbedTasks(command=lambda episode, goal, url: ()) as tasks,
        SessionFactory(tasks, SCENARIO, out=out, plan=plan) as factory,
    ):
        yield factory


def success(rewards: Sequence[float]) -> float:
    """Return the share of solved episodes."""
    return fmean(rewards) if rewards else 0.0


def _summed(episodes: Sequence[ScoredEpisode]) -> Round:
    scored = [it for it in episodes if it.reward is not None]
    return Round(
        clean=tuple(it.reward or 0.0 for it in scored if not it.plan.is_faulted),
        faulted=tuple(it.reward or 0.0 for it in scored if it.plan.is_faulted),
        unscored=len(episodes) - len(scored),
    )


def _place_of(action: str, name: str, some: Sequence[Candidate]) -> int:
    """Return the place of an oracle's step among a page's actions."""
    for place, candidate in enumerate(some):
        if action == "click":
            if candidate.element is not None and candidate.element.name == name:
                return place
        elif answer_of(candidate) == name:
            return place
    if action == "click":
        raise SystemExit(f"no link and no button is named {name!r}")
    return next(place for place, it in enumerate(some) if it.text.endswith("('Done.')"))
