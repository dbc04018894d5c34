"""The result of an experiment: rates, tests, and whether the claims hold."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from bench.training.campaigns import UNSEEN_BRANDS
from bench.training.experiment import BASE, RANKER, STAGE_ONE, Experiment
from warex.analysis.stats.estimates import Rate, clustered_rate
from warex.analysis.stats.proportions import ALPHA, fisher
from warex.exports.dataset import read_dataset
from warex.exports.rows import Row
from warex.training.evaluation.tables import shown

_WITHOUT_ACTION: Final = ("text", "empty", "refusal")
MIN_FAILURES: Final = 60
"""Required number of held-out failures."""
MAX_AGREEMENT_LOSS: Final = 0.05
"""Allowed loss of agreement on clean steps."""
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
    """The numbers of an experiment; models by name, the base first."""

    scores: Mapping[str, Score]
    ranker: Score
    """Of the ranker, on all held-out steps."""
    acts: Mapping[str, Rate]
    """How often each model's answer has an action in the agent's form."""
    others: Mapping[str, Mapping[str, Rate]]
    """Recovery by kind of fault, for kinds absent from training."""
    live: Sequence[Mapping[str, object]]
    """``agent``, ``condition``, ``solved`` and ``recovered`` of the live campaigns."""
    seconds: Mapping[str, float]
    """Seconds of each step."""

    @property
    def tuned(self) -> Mapping[str, Score]:
        """The models of stage two."""
        return {name: it for name, it in self.scores.items() if name not in self.before}

    @property
    def before(self) -> Mapping[str, Score]:
        """The models that these are compared with: the base and, if there is one, stage one."""
        return {name: it for name, it in self.scores.items() if name in (BASE, STAGE_ONE)}


def read_result(experiment: Experiment) -> ExperimentResult:
    """Read the result from an experiment's folder."""
    folder = experiment.folder
    tested = _answers(folder / "answers-failures" / "answers.jsonl", experiment.model)
    rows = {row.id: row for row in read_dataset(folder / "failures").rows("test")}
    others: dict[str, dict[str, Rate]] = {}
    if (file := folder / "answers-others" / "answers.jsonl").is_file():
        asked = {row.id: row for row in read_dataset(folder / "others").rows("train")}
        others = {
            name: _by_fault(classes, asked)
            for name, classes in _answers(file, experiment.model).items()
        }
    live = [folder / f"run-live-{name}" / "summary.json" for name in experiment.live]
    return ExperimentResult(
        scores={name: _score(classes, rows) for name, classes in tested.items()},
        ranker=_score(
            _answers(folder / "answers-ranker" / "answers.jsonl", experiment.model)[RANKER],
            {row.id: row for row in read_dataset(folder / "all-steps").rows("test")},
        ),
        acts={
            name: clustered_rate(
                (rows[it].task, label not in _WITHOUT_ACTION) for it, (label, _) in classes.items()
            )
            for name, classes in tested.items()
        },
        others=others,
        live=[one for file in live if file.is_file() for one in _live(file)],
        seconds=experiment.seconds,
    )


def failed_claims(it: ExperimentResult, *, min_failures: int = MIN_FAILURES) -> Iterator[str]:
    """Yield a sentence for each claim that does not hold."""
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
    scores = list(it.scores.items())
    columns = [*_COLUMNS, *(f"p against {name}" for name in it.before)]
    lines = [f"| model | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}"]
    for place, (name, score) in enumerate([*scores, (RANKER, it.ranker)]):
        rates = (
            score.recovery, score.on_brands, score.on_kind,
            score.agreement, score.same_kind, score.false_reloads,
        )  # fmt: skip
        ps = [
            _p(fisher(_counts(score.recovery), _counts(other.recovery))) if place > after else ""
            for after, other in enumerate(it.before.values())
        ]
        lines.append(f"| {name} | {' | '.join([*map(shown, rates), *ps])} |")
    if it.others:
        kinds = sorted({kind for rates in it.others.values() for kind in rates})
        lines += ["", f"| model | {' | '.join(f'`{kind}`' for kind in kinds)} |"]
        lines.append(f"| --- |{' --- |' * len(kinds)}")
        for name, by_fault in it.others.items():
            cells = (shown(by_fault.get(kind, Rate(0, 0))) for kind in kinds)
            lines.append(f"| {name} | {' | '.join(cells)} |")
    if it.live:
        lines += ["", "| agent | condition | tasks solved | faults recovered from |"]
        lines.append("| --- | --- | --- | --- |")
        lines += [
            f"| {one['agent']} | {one['condition']} | {one['solved']} | {one['recovered']} |"
            for one in it.live
        ]
    took = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in it.seconds.items())
    return "\n".join([*lines, "", f"{sum(it.seconds.values()) / 60:.0f} minutes: {took}.", ""])


def _answers(file: Path, model: str) -> Mapping[str, Mapping[str, tuple[str, bool]]]:
    """Return each model's answers by the row's id: their class and whether the kind agrees."""
    answers: dict[str, dict[str, tuple[str, bool]]] = {}
    for line in file.read_text().splitlines():
        one = json.loads(line)
        name = Path(one["model"]).name
        name = BASE if name == Path(model).name else name
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


def _live(summary: Path) -> Iterator[Mapping[str, object]]:
    for one in json.loads(summary.read_text())["conditions"]:
        yield {
            "agent": one["agent"],
            "condition": one["condition"],
            "solved": _of(one["success"]),
            "recovered": _of(one["injection_recovery"]),
        }


def _of(rate: Mapping[str, object] | None) -> str:
    return f"{rate['hits']}/{rate['n']}" if rate else "—"


def _rises(after: Rate, before: Rate) -> bool:
    more = (after.value or 0) > (before.value or 0)
    return more and fisher(_counts(after), _counts(before)) < ALPHA


def _counts(rate: Rate) -> tuple[int, int]:
    return rate.hits, rate.n


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"
