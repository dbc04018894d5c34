"""Splits rows into training and held-out ones (paper §4.2: 9, 1 and 1 of 11 sites).

A split uses one or several dimensions. A row is held out if all of its values are held out: with
``site`` and ``page_family``, a test row has an unseen site *and* an unseen error page. Rows in
between are on no side.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from warex.errors import InputError
from warex.exports.names import SIDES, Dimension, Side
from warex.exports.rows import RowMetadata
from warex.seeds import draw


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """How rows are split."""

    by: tuple[Dimension, ...] = ("site", "page_family")
    shares: tuple[int, int, int] = (9, 1, 1)
    """Shares of each dimension's names: train, validation, test."""
    held_out: Mapping[Side, Mapping[Dimension, tuple[str, ...]]] = field(default_factory=dict)
    """Names, or patterns such as ``market.*``, assigned to a side."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Split[R: RowMetadata]:
    """Split rows."""

    sides: Mapping[Side, tuple[R, ...]]
    between: int
    """Number of rows on no side."""


def split_rows[R: RowMetadata](rows: Sequence[R], plan: SplitPlan) -> Split[R]:
    """Split rows. Raises InputError for too few names, or an unknown name to hold out."""
    places = {by: _places(rows, by, plan) for by in plan.by}
    sides: dict[Side, list[R]] = defaultdict(list)
    between = 0
    for row in rows:
        on = {places[by][getattr(row, by)] for by in plan.by if getattr(row, by)}
        if len(on) == 1:
            sides[on.pop()].append(row)
        elif on:
            between += 1
        else:
            # A row without any dimension is placed by its task, so that no task is on two sides.
            sides[_drawn(plan, row.benchmark, row.task)].append(row)
    return Split({side: tuple(sides[side]) for side in SIDES}, between)


def sides_without_failures(
    sides: Mapping[Side, Sequence[RowMetadata]], rows: Sequence[RowMetadata], plan: SplitPlan
) -> list[str]:
    """Return a warning for each side of a split that has rows but no failure.

    Empty if no row is a failure. Names are not chosen so that each side has one: clean steps alone
    must hold out the same sites as both kinds do.
    """
    failures = [row for row in rows if row.kind == "failure"]
    named = Counter(tuple(getattr(row, by) for by in plan.by) for row in failures)
    # A name is proposed only if training has failures without it.
    proposed = [
        values
        for values, _ in named.most_common()
        if all(values) and any(not set(values) & set(others) for others in named)
    ]
    warnings: list[str] = []
    for side in SIDES:
        if not failures or not sides[side] or any(it.kind == "failure" for it in sides[side]):
            continue
        text = f"{side} has no failure, so that recovery cannot be measured on it: name what it"
        text += " holds out"
        if proposed:
            values = proposed[0]
            text += f", such as {_option(side, plan.by, values)}"
            proposed = [others for others in proposed if not set(values) & set(others)]
        warnings.append(text)
    return warnings


def _option(side: Side, by: Sequence[Dimension], values: Sequence[str]) -> str:
    option = "--test" if side == "train" else f"--{side}"
    return " ".join(f"{option} {it}={value}" for it, value in zip(by, values, strict=True))


def _places(rows: Iterable[RowMetadata], by: Dimension, plan: SplitPlan) -> dict[str, Side]:
    names = sorted({getattr(row, by) for row in rows} - {""})
    if not names:
        raise InputError(
            f"--split {by}: no step has a {by}; clean steps have none. `--split site` fits"
        )
    placed: dict[str, Side] = {}
    for side in ("validation", "test", "train"):
        for pattern in plan.held_out.get(side, {}).get(by, ()):
            fitting = [name for name in names if fnmatchcase(name, pattern)]
            if not fitting:
                raise InputError(
                    f"--{side} {by}={pattern}: there is no such {by}; there are: {', '.join(names)}"
                )
            placed |= dict.fromkeys(fitting, side)
    if any(by in plan.held_out.get(side, {}) for side in SIDES):
        return {name: placed.get(name, "train") for name in names}
    wanted = [side for side, share in zip(SIDES, plan.shares, strict=True) if share]
    if len(names) < len(wanted):
        raise InputError(
            f"--split {by}: there {'is' if len(names) == 1 else 'are'} only"
            f" {', '.join(names)}, and {len(wanted)} sides need one each; run more, give a side no"
            " share with --shares, or leave the rows in one piece with --split none"
        )
    shuffled = sorted(names, key=lambda name: draw(plan.seed, "split", by, name))
    counts = _counts(len(names), plan.shares)
    ends = [counts[2], counts[2] + counts[1]]
    return {
        name: "test" if place < ends[0] else "validation" if place < ends[1] else "train"
        for place, name in enumerate(shuffled)
    }


def _counts(number: int, shares: tuple[int, int, int]) -> tuple[int, int, int]:
    """Divide names by shares: at least one per share, the rest to training."""
    total = sum(shares)
    validation, test = (
        max(1, round(number * share / total)) if share else 0 for share in shares[1:]
    )
    while shares[0] and number - validation - test < 1:
        if validation >= test and validation > 1:
            validation -= 1
        else:
            test -= 1
    return number - validation - test, validation, test


def _drawn(plan: SplitPlan, *about: str) -> Side:
    point = draw(plan.seed, "split", *about) * sum(plan.shares)
    if point < plan.shares[2]:
        return "test"
    return "validation" if point < plan.shares[2] + plan.shares[1] else "train"
