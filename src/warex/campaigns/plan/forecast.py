"""Estimates a campaign's time and cost from similar earlier trials. It does no I/O."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from warex.llm.embedded import is_mock_model
from warex.traces import CLEAN, TrialKey

OVERHEAD_S = 0.5
"""Seconds of a trial beside its agent: environment, proxy (`warex demo` on two cores)."""


@dataclass(frozen=True, slots=True)
class PastTrial:
    """Time and cost of a trial of an earlier run."""

    run: str
    at: str
    """When the run began, ISO 8601."""
    benchmark: str
    model: str
    condition: str
    latency_s: float
    usd: float | None


@dataclass(frozen=True, slots=True)
class CellForecast:
    """Estimate for one trial of an agent under a condition."""

    seconds: float
    """Total on its lane."""
    usd: float | None
    """None if unknown; without a proxy, the value of ``clean``. 0 for an embedded model, whose
    trials are recorded at a notional price."""
    run: str
    trials: int
    """Number of trials it is based on."""
    condition: str
    """Their condition: ``clean`` replaces one that was not run."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Estimate for all remaining trials."""

    cells: dict[tuple[str, str], CellForecast | None]
    """By agent and condition; None without an earlier run."""
    seconds: float
    """Wall time on all lanes, of the trials with an estimate."""
    usd: float
    unknown: int
    """Trials without an earlier run."""
    unpriced: int
    """Trials with an estimated time but no cost."""
    free: int
    """Trials of embedded models, which cost nothing."""


def forecast(
    trials: Sequence[TrialKey], models: dict[str, str], seen: Sequence[PastTrial], lanes: int
) -> Forecast:
    """Return the estimate for trials; ``models`` maps agents to models.

    It uses the trials of the same benchmark, model and condition in the newest run that has any,
    otherwise those under ``clean``.
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
    """Return the estimate, completed from ``clean``: without a proxy, costs are not recorded."""
    if expected is None or clean is None or expected.usd is not None:
        return expected or clean
    return replace(expected, usd=clean.usd)


def _expected(like: Sequence[PastTrial] | None) -> CellForecast | None:
    if not like:
        return None
    newest = max(like, key=lambda each: (each.at, each.run)).run
    trials = [each for each in like if each.run == newest]
    priced = [each.usd for each in trials if each.usd is not None]
    return CellForecast(
        seconds=sum(each.latency_s for each in trials) / len(trials) + OVERHEAD_S,
        usd=sum(priced) / len(priced) if priced else None,
        run=newest,
        trials=len(trials),
        condition=trials[0].condition,
    )
