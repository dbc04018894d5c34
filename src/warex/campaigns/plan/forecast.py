"""What a campaign may take, by what like trials took before. Pure: whoever asks has read them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from warex.llm.embedded import is_mock_model
from warex.traces import (
    CLEAN,
    TrialKey,
)

OVERHEAD_S = 0.5
"""Seconds that a trial takes beside its agent: its world, its proxy (measured with
`warex demo` on two cores)."""


@dataclass(frozen=True, slots=True)
class PastTrial:
    """What a trial of an earlier run took."""

    run: str
    """Its folder's name."""
    at: str
    """When the run began, ISO 8601."""
    benchmark: str
    model: str
    condition: str
    latency_s: float
    usd: float | None


@dataclass(frozen=True, slots=True)
class CellForecast:
    """What one trial of an agent under a condition may take."""

    seconds: float
    """On its lane, all told."""
    usd: float | None
    """None where nobody knows; without a proxy, that of ``clean``. 0 for a model that WAREX plays,
    whose trials are recorded at an as-if price."""
    run: str
    """Which run tells."""
    trials: int
    """Out of so many trials."""
    condition: str
    """Of this condition: ``clean`` stands in for one that was not run."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What all trials that are left may take."""

    cells: dict[tuple[str, str], CellForecast | None]
    """By agent and condition; None where no earlier run tells."""
    seconds: float
    """On all lanes, of those that something is known of."""
    usd: float
    unknown: int
    """Trials of which no earlier run tells."""
    unpriced: int
    """Trials whose time an earlier run tells, but not their money."""
    free: int
    """Trials of models that WAREX plays itself, which cost nothing."""


def forecast(
    trials: Sequence[TrialKey], models: dict[str, str], seen: Sequence[PastTrial], lanes: int
) -> Forecast:
    """Return what the trials may take; ``models`` names each agent's model.

    A trial is taken to be like those of the same benchmark, model and condition in the newest run
    that has any; where none has, like those under ``clean``.
    """
    by_kind: dict[tuple[str, str, str], list[PastTrial]] = defaultdict(list)
    for each in seen:
        by_kind[each.benchmark, each.model, each.condition].append(each)
    cells: dict[tuple[str, str], CellForecast | None] = {}
    seconds = usd = 0.0
    unknown = unpriced = free = 0
    for key in trials:
        at = (key.agent, key.condition)
        if at not in cells:
            kind = (key.benchmark, models[key.agent])
            clean = _expected(by_kind.get((*kind, CLEAN)))
            own = _with_cost_of(_expected(by_kind.get((*kind, key.condition))), clean)
            cells[at] = replace(own, usd=0.0) if own and is_mock_model(kind[1]) else own
        expected = cells[at]
        seconds += 0.0 if expected is None else expected.seconds
        usd += 0.0 if expected is None else expected.usd or 0.0
        unknown += expected is None
        unpriced += expected is not None and expected.usd is None
        free += is_mock_model(models[key.agent])
    return Forecast(cells, seconds / lanes, usd, unknown, unpriced, free)


def _with_cost_of(expected: CellForecast | None, clean: CellForecast | None) -> CellForecast | None:
    """Return what is expected; where it, or its money, is not known, that of ``clean``.

    Without a proxy nobody sees the money, which is spent all the same.
    """
    if expected is None or clean is None or expected.usd is not None:
        return expected or clean
    return replace(expected, usd=clean.usd)


def _expected(like: Sequence[PastTrial] | None) -> CellForecast | None:
    if not like:
        return None
    newest = max(like, key=lambda each: (each.at, each.run)).run
    found = [each for each in like if each.run == newest]
    priced = [each.usd for each in found if each.usd is not None]
    return CellForecast(
        seconds=sum(each.latency_s for each in found) / len(found) + OVERHEAD_S,
        usd=sum(priced) / len(priced) if priced else None,
        run=newest,
        trials=len(found),
        condition=found[0].condition,
    )
