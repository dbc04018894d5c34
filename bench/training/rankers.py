"""The rankers of an experiment: before and after they have seen failures, tested and live."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.training import campaigns
from bench.training.steps import Steps

BEFORE: Final = "ranker-clean"
"""Trained on the known sites' steps without any failure."""
CLEAN_STEPS: Final = ("--condition", campaigns.CLEAN, "--only", "clean", "--all")
"""What it learns from, as options of ``warex export``."""
HARD: Final = "answers-hard"
_CLEAN_PER_FAILURE: Final = "8.5"
"""With 60 failures, nearly all clean steps of the known sites."""


@dataclass(frozen=True, slots=True)
class Rankers:
    """The rankers and their tests."""

    steps: Steps
    failures: int
    """Failures that each of those after learns from, beside clean steps."""
    seeds: tuple[int, ...]
    """Of the choice of rows; a ranker has no other randomness."""
    live: tuple[str, ...]
    """Tasks of the served rankers."""
    faults: tuple[str, ...]
    """The kinds of ``campaigns.LIVE_FAULTS`` under which they work on them."""

    @property
    def after(self) -> tuple[str, ...]:
        """The rankers that have learnt from failures, one per seed."""
        return tuple(f"ranker-{seed}" for seed in self.seeds)

    @property
    def names(self) -> tuple[str, ...]:
        """All rankers."""
        return BEFORE, *self.after

    def run(self) -> None:
        """Run the remaining steps. Raises CalledProcessError if a command fails."""
        self._train(BEFORE, CLEAN_STEPS)
        for seed, name in zip(self.seeds, self.after, strict=True):
            share = ("--most", str(self.failures), "--clean-per-failure", _CLEAN_PER_FAILURE)
            self._train(name, (*share, "--seed", str(seed)))
        for name in self.names:
            with self.steps.step(f"evaluate-{name}") as new:
                if new:
                    self._evaluate(name, f"answers-{name}")
                    self._evaluate(name, f"{HARD}-{name}", "--test", "hard")
        if self.live:
            for name in self.names:
                self._live(name)

    def _train(self, name: str, selection: Sequence[str]) -> None:
        with self.steps.step(name) as new:
            if new:
                path = self.steps.path
                rows = path(f"rows-{name}")
                self.steps.warex(
                    "export", path("run-known"), "--split", "none", *selection, "--out", rows
                )
                self.steps.warex("train", "--ranker", "--data", rows, "--out", path(name))

    def _evaluate(self, name: str, out: str, *options: str) -> None:
        path = self.steps.path
        self.steps.warex(
            *("evaluate", "--data", path("all-steps"), "--model", path(name)),
            *("--out", path(out), "--resume", *options),
        )

    def _live(self, name: str) -> None:
        """Run the reference agent with one ranker."""
        with self.steps.step(f"live-{name}") as new:
            if new:
                with self.steps.served(name, "--model", self.steps.path(name)) as url:
                    steps, faults = campaigns.MAX_STEPS, self.faults
                    campaign = campaigns.live(
                        name, name, url, self.live, max_steps=steps, faults=faults
                    )
                    self.steps.run_served_campaign(campaign)
