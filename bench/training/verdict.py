"""The result of an experiment: rates, tests, and whether the claims hold."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final

from bench.training.campaigns import UNSEEN_BRANDS
from bench.training.experiment import BASE, STAGE_ONE, Experiment
from bench.training.live import LiveTrial, live_rise, live_table, live_trials
from bench.training.rankers import BEFORE, HARD
from bench.training.steps import Duration
from warex.analysis.stats.estimates import Rate, clustered_rate
from warex.analysis.stats.proportions import ALPHA, fisher
from warex.exports.dataset import read_dataset
from warex.exports.rows import Row
from warex.training.evaluation.hard_test import read_hard_test
from warex.training.evaluation.tables import shown

_WITHOUT_ACTION: Final = ("text", "empty", "refusal")
MIN_FAILURES: Final = 30
"""Required number of held-out failures."""
MAX_AGREEMENT_LOSS: Final = 0.05
"""Allowed loss of agreement on clean steps."""
MIN_RECOVERY: Final = 0.9
MAX_FALSE_RELOADS: Final = 0.05
MIN_LIVE_TASKS: Final = 12
_COLUMNS: Final = (
    "recovered", "unseen brands", "unseen kind", "clean: agrees", "same kind of action",
    "false reloads",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Score:
    """The rates of one model on the held-out steps."""

    recovery: Rate
    on_brands: Rate
    """Recovery on unseen brands of known kinds of site."""
    on_kind: Rate
    """Recovery on the unseen kind of site."""
    agreement: Rate
    same_kind: Rate
    false_reloads: Rate


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The numbers of an experiment; models by name, the one before tuning first."""

    scores: Mapping[str, Score]
    """Of language models; empty without one."""
    rankers: Mapping[str, Score]
    """Of the rankers, on all held-out steps."""
    legal: Mapping[str, Score]
    """Of language models whose answers are bound to the page's legal actions."""
    hard: Mapping[str, Score]
    """Of all models, on the hard test."""
    trivial: Mapping[str, str]
    """What the trivial baselines come to on the rows of the rankers, and on the hard test."""
    acts: Mapping[str, Rate]
    """How often each language model's answer has an action in the agent's form."""
    others: Mapping[str, Mapping[str, Rate]]
    """Recovery by kind of fault, for kinds absent from training."""
    live: Mapping[str, Sequence[LiveTrial]]
    """The live trials of each model."""
    durations: Mapping[str, Duration]
    """Of each step."""
    beside: Mapping[str, Score] = field(default_factory=dict)
    """Of the rankers, on the rows that the language models were asked."""
    asked: Sequence[Row] = ()
    """Those rows."""

    @property
    def tuned(self) -> Mapping[str, Score]:
        """The language models that have learnt from failures."""
        return {name: it for name, it in self.scores.items() if name not in self.before}

    @property
    def before(self) -> Mapping[str, Score]:
        """The models that these are compared with: the base and, if there is one, stage one."""
        return {name: it for name, it in self.scores.items() if name in (BASE, STAGE_ONE)}


def read_result(experiment: Experiment) -> ExperimentResult:
    """Read the result from an experiment's folder."""
    folder, rankers = experiment.folder, experiment.rankers
    steps = {row.id: row for row in read_dataset(folder / "all-steps").rows("test")}
    pairs = {row.id: row for row in read_hard_test().rows("test")}
    tested: Mapping[str, Mapping[str, tuple[str, bool]]] = {}
    rows: Mapping[str, Row] = {}
    legal: dict[str, Score] = {}
    hard: dict[str, Score] = {}
    others: dict[str, dict[str, Rate]] = {}
    if experiment.model is not None:
        tested = _answers(folder / "answers-failures", experiment.model)
        rows = {row.id: row for row in read_dataset(folder / "failures").rows("test")}
        if experiment.size.more_questions:
            bound = _answers(folder / "answers-legal", experiment.model)
            legal = {f"{name}, legal": _score(classes, rows) for name, classes in bound.items()}
            asked = _answers(folder / HARD, experiment.model)
            hard = {name: _score(classes, pairs) for name, classes in asked.items()}
        if (folder / "answers-others").is_dir():
            other_rows = {row.id: row for row in read_dataset(folder / "others").rows("train")}
            others = {
                name: _by_fault(classes, other_rows)
                for name, classes in _answers(folder / "answers-others", experiment.model).items()
            }
    asked_rows = {it: None for classes in tested.values() for it in classes}
    ranked = {name: _answers(folder / f"answers-{name}", "")[name] for name in rankers.names}
    hard |= {
        name: _score(_answers(folder / f"{HARD}-{name}", "")[name], pairs) for name in rankers.names
    }
    return ExperimentResult(
        scores={name: _score(classes, rows) for name, classes in tested.items()},
        rankers={name: _score(classes, steps) for name, classes in ranked.items()},
        legal=legal,
        hard=hard,
        trivial={
            "recovery test": _trivial(folder / f"answers-{BEFORE}"),
            "hard test": _trivial(folder / f"{HARD}-{BEFORE}"),
        },
        acts={
            name: clustered_rate(
                (rows[it].task, label not in _WITHOUT_ACTION) for it, (label, _) in classes.items()
            )
            for name, classes in tested.items()
        },
        others=others,
        live={
            name: live_trials(folder / f"run-live-{name}")
            for name in (*rankers.names, *experiment.live)
            if (folder / f"run-live-{name}").is_dir()
        },
        durations=experiment.durations,
        beside={
            name: _score({it: one for it, one in classes.items() if it in asked_rows}, steps)
            for name, classes in ranked.items()
            if asked_rows
        },
        asked=[rows[it] for it in asked_rows],
    )


def goals(it: ExperimentResult) -> Iterator[tuple[bool, str]]:
    """Yield whether each goal is reached, with a sentence; for the rankers and the adapters."""
    for scores, kind in ((it.rankers, "rankers"), (it.scores, "language models")):
        before = [one for name, one in scores.items() if name in (BEFORE, BASE)]
        after = {name: one for name, one in scores.items() if name not in (BEFORE, BASE, STAGE_ONE)}
        if not before or not after:
            continue
        recovered = min(one.recovery.value or 0 for one in after.values())
        yield (
            recovered >= MIN_RECOVERY,
            f"{kind}: recovery of each at least {MIN_RECOVERY:.0%} (least: {recovered:.0%})",
        )
        reloads = max(one.false_reloads.value or 0 for one in after.values())
        yield (
            reloads <= MAX_FALSE_RELOADS,
            f"{kind}: false reloads of each at most {MAX_FALSE_RELOADS:.0%} (most: {reloads:.1%})",
        )
        first = before[0].agreement.value or 0
        agreed = fmean(one.agreement.value or 0 for one in after.values())
        yield (
            agreed >= first,
            f"{kind}: agreement on clean steps not lower ({first:.1%} before, {agreed:.1%} after)",
        )
        live = {name: it.live[name] for name in after if name in it.live}
        untuned = next(
            (it.live[name] for name in (BEFORE, BASE) if name in scores and name in it.live), ()
        )
        if live and untuned:
            rise = live_rise(untuned, list(live.values()))
            yield (
                rise.p < ALPHA and rise.after > rise.before and rise.tasks >= MIN_LIVE_TASKS,
                f"{kind}: live success under faults rises significantly"
                f" ({rise.before:.1%} before, {rise.after:.1%} after, on {rise.tasks} tasks,"
                f" of which {rise.risen} rise and {rise.fallen} fall;"
                f" sign-flip test over tasks, mid-p: p = {rise.p:.3f})",
            )


def failed_claims(it: ExperimentResult, *, min_failures: int = MIN_FAILURES) -> Iterator[str]:
    """Yield a sentence for each claim that does not hold."""
    if not it.tuned:
        return
    for name, score in it.tuned.items():
        if score.recovery.n < min_failures:
            yield f"{name} was asked {score.recovery.n} held-out failures, not {min_failures}"
        for other_name, other in it.before.items():
            if not _rises(score.recovery, other.recovery):
                yield f"{name} does not recover more often than {other_name}: {score.recovery}"
        if not _rises(score.recovery, score.false_reloads):
            yield (
                f"{name} loads a page again where nothing failed ({shown(score.false_reloads)}) as"
                f" often as where something did ({shown(score.recovery)})"
            )
    after = fmean(score.agreement.value or 0.0 for score in it.tuned.values())
    lost = (list(it.before.values())[-1].agreement.value or 0.0) - after
    if lost > MAX_AGREEMENT_LOSS:
        yield f"agreement on clean steps falls by {lost * 100:.1f} points"


def tables(it: ExperimentResult) -> str:
    """Return the numbers as Markdown."""
    parts = []
    for scores, title in (
        ({**it.scores, **it.legal, **it.beside}, f"Recovery test, {_rows(it.asked)}"),
        (it.rankers, "Recovery test, rankers, all rows"),
        (it.hard, "Hard test"),
    ):
        if scores:
            parts.append(f"{title}:\n\n{_score_table(scores, it.before)}")
    parts += [f"Trivial baselines, {test}:\n\n{table}" for test, table in it.trivial.items()]
    if it.others:
        parts.append(f"Other kinds of faults:\n\n{_other_table(it.others)}")
    if it.live:
        parts.append(f"Live, solved tasks:\n\n{live_table(it.live)}")
    reached = [f"- {'reached' if yes else 'NOT REACHED'}: {goal}" for yes, goal in goals(it)]
    if reached:
        parts.append("\n".join(["Goals:", "", *reached]))
    parts.append(_took(it.durations))
    return "\n\n".join(parts) + "\n"


def _rows(asked: Sequence[Row]) -> str:
    failures = sum(row.kind == "failure" for row in asked)
    return (
        f"the same {failures} failures and {len(asked) - failures} clean steps for each model, of"
        f" {len({row.site for row in asked})} sites and {len({row.task for row in asked})} tasks"
    )


def _took(durations: Mapping[str, Duration]) -> str:
    """Return how long the steps took, and their processor time."""
    seconds = sum(it.seconds for it in durations.values())
    processor = sum(it.processor_seconds for it in durations.values())
    steps = ", ".join(
        f"{name} {it.seconds:.0f} s ({it.processor_seconds:.0f} s)"
        for name, it in durations.items()
    )
    return f"{seconds / 60:.0f} minutes, {processor / 60:.0f} minutes of processor time: {steps}."


def _score_table(scores: Mapping[str, Score], before: Mapping[str, Score]) -> str:
    compared = {name: one for name, one in before.items() if name in scores}
    if not compared and BEFORE in scores:
        compared = {BEFORE: scores[BEFORE]}
    columns = [*_COLUMNS, *(f"p against {name}" for name in compared)]
    lines = [f"| model | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}"]
    for name, score in scores.items():
        rates = (
            score.recovery, score.on_brands, score.on_kind,
            score.agreement, score.same_kind, score.false_reloads,
        )  # fmt: skip
        ps = [
            "" if name in compared else _p(fisher(_counts(score.recovery), _counts(other.recovery)))
            for other in compared.values()
        ]
        lines.append(f"| {name} | {' | '.join([*map(shown, rates), *ps])} |")
    return "\n".join(lines)


def _other_table(others: Mapping[str, Mapping[str, Rate]]) -> str:
    kinds = sorted({kind for rates in others.values() for kind in rates})
    lines = [f"| model | {' | '.join(f'`{kind}`' for kind in kinds)} |"]
    lines.append(f"| --- |{' --- |' * len(kinds)}")
    for name, by_fault in others.items():
        cells = (shown(by_fault.get(kind, Rate(0, 0))) for kind in kinds)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _trivial(folder: Path) -> str:
    """Return the table of the baselines that an evaluation printed, with its verdict."""
    text = (folder / "table.md").read_text()
    return text.partition("\n| task |")[0].strip()


def _answers(folder: Path, model: str) -> Mapping[str, Mapping[str, tuple[str, bool]]]:
    """Return each model's answers by the row's id: their class and whether the kind agrees."""
    answers: dict[str, dict[str, tuple[str, bool]]] = {}
    for line in (folder / "answers.jsonl").read_text().splitlines():
        one = json.loads(line)
        name = Path(one["model"]).name
        name = BASE if model and name == Path(model).name else name
        answers.setdefault(name, {})[one["row"]] = (one["class"], one["same_kind"])
    return answers


def _score(classes: Mapping[str, tuple[str, bool]], rows: Mapping[str, Row]) -> Score:
    failures = [rows[it] for it in classes if rows[it].kind == "failure"]
    clean = [rows[it] for it in classes if rows[it].kind == "clean"]
    brands = {f"{site}.warex.test" for site in UNSEEN_BRANDS}

    def share(some: Sequence[Row], label: str) -> Rate:
        return clustered_rate((row.task, classes[row.id][0] == label) for row in some)

    return Score(
        recovery=share(failures, "recovery"),
        on_brands=share([row for row in failures if row.site in brands], "recovery"),
        on_kind=share([row for row in failures if row.site not in brands], "recovery"),
        agreement=share(clean, "agreement"),
        same_kind=clustered_rate((row.task, classes[row.id][1]) for row in clean),
        false_reloads=share(clean, "false_reload"),
    )


def _by_fault(classes: Mapping[str, tuple[str, bool]], rows: Mapping[str, Row]) -> dict[str, Rate]:
    kinds = sorted({rows[it].fault for it in classes})
    return {
        kind: clustered_rate(
            (rows[it].task, label == "recovery")
            for it, (label, _) in classes.items()
            if rows[it].fault == kind
        )
        for kind in kinds
    }


def _rises(after: Rate, before: Rate) -> bool:
    more = (after.value or 0) > (before.value or 0)
    return more and fisher(_counts(after), _counts(before)) < ALPHA


def _counts(rate: Rate) -> tuple[int, int]:
    return rate.hits, rate.n


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"
