"""python -m bench dagger: does a ranker learn from its own steps, as the oracles answer them?

DAgger (Ross, Gordon and Bagnell, AISTATS 2011). In each round the reference agent, driven by the
ranker, works on tasks of the known sites while pages fail; `warex export --oracle` relabels its
wrong steps, and a ranker learns from all rows so far. Live tasks are those of unseen sites. With
the folder of `python -m bench training` as --out its runs are used again; a second call resumes.
"""

import argparse
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from bench import machine
from bench.training import campaigns
from bench.training.experiment import FULL, SMALL, Experiment
from bench.training.live import LiveTrial, live_rise, live_table, live_trials
from bench.training.rankers import BEFORE, CLEAN_STEPS
from warex.analysis.stats.proportions import ALPHA
from warex.exports.dataset import DatasetManifest

FIRST: Final = "oracle"
"""Learns from all steps of the scripted agent, with and without failures: round 0."""
MORE: Final = "oracle-more"
"""The baseline: learns from as many more runs of the scripted agent as a seed has of its own."""
_FAULTS: Final = ("http-error",)


@dataclass(frozen=True, slots=True)
class Dagger:
    """The rounds of several seeds."""

    base: Experiment
    seeds: tuple[int, ...]
    rounds: int
    sample: int
    """Tasks of the known sites in a round."""
    live: tuple[str, ...]
    """Tasks of unseen sites."""

    @property
    def last(self) -> tuple[str, ...]:
        """The rankers of the last round."""
        return tuple(self.name(seed, self.rounds) for seed in self.seeds)

    @property
    def compared(self) -> tuple[str, ...]:
        """The rankers that are run on unseen sites."""
        return (BEFORE, *self.last, FIRST, MORE)

    def name(self, seed: int, number: int) -> str:
        """Return the name of the ranker after a round."""
        return f"dagger-{seed}-{number}" if number else FIRST

    def run(self) -> None:
        """Run the remaining steps. Raises CalledProcessError if a command fails."""
        self.base.prepare()
        self._train(BEFORE, ["run-known"], *CLEAN_STEPS)
        self._train(FIRST, ["run-known"], "--all")
        self.base.campaign(campaigns.more_known(self.rounds * self.sample, seed=2))
        self._train(MORE, ["run-known", "run-more"], "--all")
        for number in range(1, self.rounds + 1):
            for seed in self.seeds:
                self._round(seed, number)
        for name in self.compared:
            with self.base.step(f"unseen-{name}") as new:
                if new:
                    with self.base.served(name, "--model", self.base.path(name)) as url:
                        self.base.run_served_campaign(
                            campaigns.live(
                                f"{name}-unseen", name, url, self.live,
                                max_steps=campaigns.MAX_STEPS, faults=_FAULTS,
                            )
                        )  # fmt: skip

    def _round(self, seed: int, number: int) -> None:
        policy, base = self.name(seed, number - 1), self.base
        agent = self._agent(seed, number - 1)
        with base.step(f"of-{agent}") as new:
            if new:
                with base.served(agent, "--model", base.path(policy), "--name", agent) as url:
                    base.run_served_campaign(
                        campaigns.rollout(agent, url, self.sample, seed=10 * seed + number)
                    )
        runs = [f"run-of-{self._agent(seed, earlier)}" for earlier in range(number)]
        self._train(self.name(seed, number), ["run-known", *runs], "--all", "--oracle")

    def _agent(self, seed: int, number: int) -> str:
        """Return the name of the agent that a ranker is in its rollouts."""
        name = self.name(seed, number)
        return name if number else f"{name}-{seed}"

    def _train(self, name: str, runs: Sequence[str], *selection: str) -> None:
        base = self.base
        with base.step(name) as new:
            if new:
                rows = base.path(f"rows-{name}")
                folders = map(base.path, runs)
                base.warex("export", *folders, "--split", "none", *selection, "--out", rows)
                base.warex("train", "--ranker", "--data", rows, "--out", base.path(name))
        with base.step(f"steps-{name}") as new:
            if new:
                asked = ("--data", base.path("all-steps"), "--model", base.path(name))
                base.warex("evaluate", *asked, "--out", base.path(f"steps-{name}"), "--resume")


@dataclass(frozen=True, slots=True)
class Learned:
    """What a ranker learnt from, and what it comes to on held-out steps."""

    rows: int
    relabelled: int
    unlabelled: int
    """Steps that its runs have and the oracle has no answer to."""
    recovered: float
    false_reloads: float
    agrees: float


def read_learned(folder: Path, name: str) -> Learned:
    """Read one ranker's data and answers from the experiment's folder."""
    text = (folder / f"rows-{name}" / "dataset.json").read_text()
    manifest = DatasetManifest.model_validate_json(text)
    split = manifest.splits["train"]
    (asked,) = json.loads((folder / f"steps-{name}" / "summary.json").read_text())
    return Learned(
        rows=split.examples,
        relabelled=split.relabelled,
        unlabelled=sum(n for why, n in manifest.left_out.items() if "the oracle" in why),
        recovered=asked["recovery"]["value"],
        false_reloads=asked["clean"]["false_reloads"]["value"],
        agrees=asked["clean"]["agreement"]["value"],
    )


def curve(dagger: Dagger, folder: Path) -> str:
    """Return the rounds as a Markdown table: means over the seeds, with their range."""
    lines = [
        "| learnt from | rows | relabelled | not labelled | recovered | false reloads | agrees |"
        " solves, known sites under faults |",
        f"|{' --- |' * 8}",
    ]
    stages: list[tuple[str, Sequence[str], Sequence[str]]] = [
        ("clean steps of the oracle", (BEFORE,), ()),
        ("all steps of the oracle: round 0", (FIRST,), [f"{FIRST}-{it}" for it in dagger.seeds]),
        ("and of as many more runs of it as a seed has of its own", (MORE,), ()),
    ]
    for number in range(1, dagger.rounds + 1):
        names = tuple(dagger.name(seed, number) for seed in dagger.seeds)
        ran = names if number < dagger.rounds else ()
        stages.append((f"round {number}", names, ran))
    for title, learned, runs in stages:
        some = [read_learned(folder, name) for name in learned]
        solved = [
            fmean(it.solved for it in live_trials(folder / f"run-of-{name}")) for name in runs
        ]
        cells = [
            *(f"{fmean(getattr(it, what) for it in some):.0f}" for what in _COUNTS),
            *(_range([getattr(it, what) for it in some]) for what in _RATES),
            _range(solved),
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


_COUNTS: Final = ("rows", "relabelled", "unlabelled")
_RATES: Final = ("recovered", "false_reloads", "agrees")


def comparisons(
    live: Mapping[str, Sequence[LiveTrial]], last: Sequence[str]
) -> list[tuple[bool, str]]:
    """Return whether live success under faults is significantly higher after the last round."""
    after = [live[name] for name in last]
    verdicts: list[tuple[bool, str]] = []
    for name in (BEFORE, FIRST, MORE):
        rise = live_rise(live[name], after)
        verdicts.append(
            (
                rise.p < ALPHA and rise.after > rise.before,
                f"live success under faults against {name}: {rise.before:.1%} before,"
                f" {rise.after:.1%} after, on {rise.tasks} tasks; sign-flip test over tasks, mid-p:"
                f" p = {rise.p:.3f}",
            )
        )
    return verdicts


def main(arguments: Sequence[str]) -> int:
    """Run the remaining steps, print the curve; return 1 if success does not rise."""
    parser = argparse.ArgumentParser(prog="python -m bench dagger", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="for all files")
    parser.add_argument("--seeds", type=int, default=3, metavar="N")
    parser.add_argument("--rounds", type=int, default=2, metavar="N")
    parser.add_argument("--tasks", type=int, default=16, metavar="N", help="of a round")
    parser.add_argument("--quick", action="store_true", help="only shows that it runs")
    asked = parser.parse_args(arguments)
    size = SMALL if asked.quick else FULL
    base = Experiment(asked.out.resolve(), size, progress=lambda step: print(step, flush=True))
    live = campaigns.short_tasks(size.unseen)
    dagger = Dagger(
        base,
        tuple(range(asked.seeds)),
        asked.rounds,
        asked.tasks,
        live[:1] if asked.quick else live,
    )
    try:
        dagger.run()
    except subprocess.CalledProcessError as error:
        print(f"failed, see {base.folder / 'log'}: {' '.join(map(str, error.cmd))}")
        return 1
    trials = {
        name: live_trials(base.folder / f"run-live-{name}-unseen") for name in dagger.compared
    }
    reached = comparisons(trials, dagger.last)
    verdicts = [f"- {'reached' if yes else 'NOT REACHED'}: {what}" for yes, what in reached]
    described = ", ".join(f"{name} {value}" for name, value in machine.describe().items())
    parts = (
        f"Machine: {described}.",
        curve(dagger, base.folder),
        f"Live, solved tasks of unseen sites:\n\n{live_table(trials)}",
        "\n".join(verdicts),
    )
    page = "\n\n".join(parts)
    (base.folder / "dagger.md").write_text(f"{page}\n")
    print(f"\n{page}")
    return 0 if reached[0][0] or asked.quick else 1


def _range(values: Sequence[float]) -> str:
    if not values:
        return "—"
    mean = f"{fmean(values):.0%}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values) * 100:.0f}-{max(values):.0%})"
