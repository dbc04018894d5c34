"""Balances clean steps and failures, so that a model does not learn to always reload (§4.2)."""

from collections.abc import Sequence

from warex.exports.rows import RowMetadata
from warex.seeds import draw


def balance_rows[R: RowMetadata](
    rows: Sequence[R], clean_per_failure: float | None, seed: int, most: int | None = None
) -> tuple[R, ...]:
    """Return rows with ``clean_per_failure`` clean ones per failure, drawn by seed, in order.

    ``clean_per_failure`` None keeps all. ``most`` limits the failures, and each kind where clean
    rows do not follow them. Rows of a single kind are not balanced.
    """
    failures = [row for row in rows if row.kind == "failure"]
    clean = [row for row in rows if row.kind == "clean"]
    some = len(failures) if most is None else min(len(failures), most)
    others = len(clean) if most is None else min(len(clean), most)
    if clean_per_failure is not None and failures and clean:
        some = min(some, int(len(clean) / clean_per_failure)) or 1
        others = max(1, round(some * clean_per_failure))
    drawn = _drawn(failures, some, seed) | _drawn(clean, others, seed)
    return tuple(row for row in rows if row.id in drawn)


def _drawn(rows: Sequence[RowMetadata], number: int, seed: int) -> set[str]:
    shuffled = sorted(rows, key=lambda row: draw(seed, "balance", row.id))
    return {row.id for row in shuffled[:number]}
