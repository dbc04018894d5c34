"""Builds a data set from runs: examples are found, split, checked for leaks, balanced."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from warex.analysis.run.load import Run
from warex.errors import InputError
from warex.exports.balance import balance_rows
from warex.exports.dataset import DatasetManifest, UnwrittenDataset
from warex.exports.dataset_formats import dataset_format
from warex.exports.examples import Example, SelectionOptions, find_examples
from warex.exports.leaks import require_no_leaks
from warex.exports.mask import CHATS, mask_pii
from warex.exports.names import Format, Kind, Leak
from warex.exports.rows import RowMetadata
from warex.exports.separability import separability
from warex.exports.splits import Split, SplitPlan, sides_without_failures, split_rows
from warex.text.english import count_noun

ONE_KIND: Final = {
    "failure": "there is no step after a fault that teaches something: no trial that counts was hit"
    " by a fault and recovered from it. Run agents that recover (the embedded `scripted:patient`"
    " does), or write the recovery yourself with --relabel",
    "clean": "there is no clean step: no trial was solved without a fault. Run the condition"
    " `clean`, too, or take failures alone with --only failure",
}

_NO_PAIR: Final = (
    "there is no pair of answers: {wanted}, but no agent failed on the same page of the same task"
    " as one that {did}. Add runs of an agent or a model that fails (the embedded `scripted:giveup`"
    " does) to the same tasks and conditions{found}"
)
_ALL_WANTED: Final = (
    "no answer is unwanted, and KTO learns from both: no agent lost a trial after a fault or made a"
    " mistake. Add runs of an agent or a model that fails (the embedded `scripted:giveup` does)"
)

_UNPAIRED: Final = "a failure, as there are too few clean steps for --clean-per-failure"


@dataclass(frozen=True, slots=True)
class DatasetRequest:
    """Options of a data set."""

    format: Format = "sft"
    choice: SelectionOptions = field(default_factory=SelectionOptions)
    plan: SplitPlan | None = field(default_factory=SplitPlan)
    """None: all rows are for training."""
    clean_per_failure: float | None = 1.0
    """None: all are kept."""
    most: int | None = None
    """Failures in training; of each kind where clean steps do not follow them."""
    mask: bool = False
    only: Kind | None = None
    allowed_leaks: tuple[Leak, ...] = ()
    agents: tuple[str, ...] = ()
    """Those whose trials are used; empty for all. The same for the next."""
    conditions: tuple[str, ...] = ()
    seed: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    """Further fields of the manifest: license, made_by, warex."""


def build(runs: Sequence[Run], request: DatasetRequest) -> UnwrittenDataset:
    """Return the requested data set.

    Raises InputError if there are no usable steps, all are of one kind, the rows cannot be split,
    or something is on two sides of the split.
    """
    choice = replace(request.choice, mistakes=dataset_format(request.format).takes_lost)
    selection = find_examples([_narrowed(run, request) for run in runs], choice)
    left_out = selection.left_out
    rows = _rows(selection.examples, request, left_out)
    if request.mask:
        rows = [mask_pii(row) for row in rows]
    for kind in ("failure", "clean"):
        wanted = request.only in (None, kind) and kind in dataset_format(request.format).kinds
        if wanted and not any(row.kind == kind for row in rows):
            raise InputError(_missing_pairs(request, selection.examples) or ONE_KIND[kind])
    if not rows and (why := _missing_pairs(request, selection.examples)):
        raise InputError(why)
    if request.plan is None:
        division: Split[RowMetadata] = Split({"train": tuple(rows)}, 0)
    else:
        division = split_rows(rows, request.plan)
    if division.between:
        left_out["between the sides of the split"] = division.between
    leaks = require_no_leaks(division.sides, request.allowed_leaks)
    by_side = {
        side: balance_rows(
            it, request.clean_per_failure, request.seed, request.most if side == "train" else None
        )
        for side, it in division.sides.items()
    }
    unpaired = sum(
        _unpaired(it, by_side[side], request.most if side == "train" else None)
        for side, it in division.sides.items()
    )
    over = sum(map(len, division.sides.values())) - sum(map(len, by_side.values())) - unpaired
    left_out.update({_UNPAIRED: unpaired} if unpaired else {})
    left_out.update({"more than were asked for": over} if over else {})
    used = {name for side in by_side.values() for row in side for name in row.images}
    warnings = [] if request.plan is None else sides_without_failures(by_side, rows, request.plan)
    if request.format == "kto" and all(getattr(row, "label") for row in rows):  # noqa: B009
        warnings.append(_ALL_WANTED)
    manifest = DatasetManifest(
        format=request.format,
        seed=request.seed,
        sources=tuple(run.name for run in runs),
        split_by=request.plan.by if request.plan else (),
        leaks=tuple(f"{it.what} {it.shown}: {' and '.join(it.sides)}" for it in leaks),
        left_out=dict(left_out.most_common()),
        warnings=tuple(warnings),
        masked=request.mask,
        oracle=choice.oracle is not None,
        separability=separability([row for it in by_side.values() for row in it], request.seed),
        vocabularies=selection.vocabularies,
        **request.facts,
    )
    images = {name: data for name, data in selection.images.items() if name in used}
    splits: dict[str, tuple[RowMetadata, ...]] = {
        side: tuple(map(_parted, rows)) if images else rows for side, rows in by_side.items()
    }
    return UnwrittenDataset(manifest, splits, images)


def _missing_pairs(request: DatasetRequest, examples: Sequence[Example]) -> str | None:
    """Return why preference data have no pairs although some answers are wanted; None otherwise."""
    if request.format != "dpo":
        return None
    part, did = ("clean", "solved it") if request.only == "clean" else ("recovery", "recovered")
    wanted, failed = (
        sum(it.part in parts for it in examples) for parts in ((part,), ("lost", "mistake"))
    )
    if not wanted:
        return None
    answers = count_noun(wanted, "answer")
    return _NO_PAIR.format(
        wanted=f"{answers} to a page that has not failed"
        if part == "clean"
        else f"{answers} recovered from a fault",
        did=did,
        found=f"; {count_noun(failed, 'answer')} failed elsewhere" if failed else "",
    )


def _unpaired(
    rows: Sequence[RowMetadata], remaining: Sequence[RowMetadata], most: int | None
) -> int:
    """Return the number of failures that have no clean rows beside them, and are left out."""
    before, after = (sum(row.kind == "failure" for row in some) for some in (rows, remaining))
    return (before if most is None else min(before, most)) - after


def _narrowed(run: Run, request: DatasetRequest) -> Run:
    for what, wanted, known in (
        ("agent", request.agents, run.agents),
        ("condition", request.conditions, run.conditions),
    ):
        if missing := sorted(set(wanted) - set(known)):
            raise InputError(
                f"{run.path} has no {what} {missing[0]!r}; it has {', '.join(known) or 'none'}"
            )
    attempts = (
        it
        for it in run.attempts
        if (not request.agents or it.key.agent in request.agents)
        and (not request.conditions or it.key.condition in request.conditions)
    )
    return replace(run, attempts=tuple(attempts))


def _rows(
    examples: Sequence[Example], request: DatasetRequest, left_out: Counter[str]
) -> list[RowMetadata]:
    form = dataset_format(request.format)
    rows = list(form.rows(examples))
    if not form.takes_lost and len(rows) < len(examples):
        left_out["lost"] += len(examples) - len(rows)
    return [row for row in rows if request.only in (None, row.kind)]


def _parted(row: RowMetadata) -> RowMetadata:
    """Write each message's content as a list of parts: a column has one type."""
    chats = {name: getattr(row, name) for name in type(row).model_fields if name in CHATS}
    changed = {
        name: [
            {**message, "content": [{"type": "text", "text": message["content"]}]}
            if isinstance(message["content"], str)
            else message
            for message in messages
        ]
        for name, messages in chats.items()
    }
    return row.model_copy(update=changed)
