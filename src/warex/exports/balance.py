"""As many clean steps as failures, so that a model does not learn to reload always (paper §4.2)."""

from collections.abc import Sequence

from warex.exports.rows import Facts
from warex.seeds import draw


def balanced[R: Facts](rows: Sequence[R], clean_per_failure: float, seed: int) -> tuple[R, ...]:
    """Return rows with so many clean ones for each failure, chosen by seed, in their order.

    Of what there is too much, some is left out; rows of one kind alone are returned as they are.
    """
    failures = [row for row in rows if row.kind == "failure"]
    clean = [row for row in rows if row.kind == "clean"]
    if not failures or not clean:
        return tuple(rows)
    some = min(len(failures), int(len(clean) / clean_per_failure)) or 1
    kept = _drawn(failures, some, seed) | _drawn(
        clean, max(1, round(some * clean_per_failure)), seed
    )
    return tuple(row for row in rows if row.id in kept)


def _drawn(rows: Sequence[Facts], number: int, seed: int) -> set[str]:
    shuffled = sorted(rows, key=lambda row: draw(seed, "balance", row.id))
    return {row.id for row in shuffled[:number]}
